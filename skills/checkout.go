package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"airlock/ident"
	"airlock/workspace/rooted"
)

// base is what a session's copy was made from: the hash of each entry.
type base map[string]string

func checkoutName(userKey string, session ident.Session) string {
	return path.Join(userKey, "checkouts", string(session))
}

// Checkout returns the host folder that a session's scripts see as /skills, with
// the user's skills as they are now. What the session itself has changed and not
// committed, or was refused, stays as it is.
func (s *Store) Checkout(userKey string, session ident.Session) (dir string, err error) {
	if err := checkKeys(userKey, string(session)); err != nil {
		return "", fmt.Errorf("check out skills: %w", err)
	}
	unlock, err := s.shelf.lock(userKey)
	if err != nil {
		return "", fmt.Errorf("check out skills: %w", err)
	}
	defer unlock()
	name := checkoutName(userKey, session)
	if _, err := s.shelf.dir.MakeDirs(name, always); err != nil {
		return "", fmt.Errorf("check out skills: %w", err)
	}
	copied, err := s.shelf.dir.Sub(name)
	if err != nil {
		return "", fmt.Errorf("check out skills: %w", err)
	}
	defer copied.Close()
	if err := s.update(userKey, name, copied); err != nil {
		return "", fmt.Errorf("check out skills: %w", err)
	}
	return filepath.Join(s.shelf.host, filepath.FromSlash(name)), nil
}

// update brings a session's copy up to date where the session left it alone.
func (s *Store) update(userKey, name string, copied *rooted.Dir) error {
	ix, err := s.shelf.index(userKey)
	if err != nil {
		return err
	}
	from := base{}
	if err := s.shelf.readJSON(name+".json", &from); err != nil {
		return err
	}
	changed := false
	for _, entry := range ix.entries() {
		current := ix.Skills[entry].current()
		if from[entry] == current.Hash || hashOf(copied, entry) != from[entry] {
			continue
		}
		if err := s.copyOut(userKey, entry, current.Number, copied); err != nil {
			return err
		}
		from[entry], changed = current.Hash, true
	}
	for entry := range from {
		if _, still := ix.Skills[entry]; !still && hashOf(copied, entry) == from[entry] {
			if err := copied.RemoveAll(entry); err != nil {
				return err
			}
			delete(from, entry)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return s.shelf.writeJSON(name+".json", from)
}

// hashOf is the hash of an entry of a session's copy; "" if there is none, and
// something that no version has if it cannot be read.
func hashOf(copied *rooted.Dir, entry string) string {
	info, err := copied.Lstat(entry)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err == nil {
		var b bundle
		if b, err = readBundle(copied, info); err == nil {
			return b.hash()
		}
	}
	return "unreadable"
}

// copyOut replaces an entry of a session's copy by a version.
func (s *Store) copyOut(userKey, entry string, number int, copied *rooted.Dir) error {
	b, err := s.shelf.get(userKey, entry, number)
	if err != nil {
		return err
	}
	if err := copied.RemoveAll(entry); err != nil {
		return err
	}
	return b.write(copied)
}

// Discard deletes a session's copy. None there is no error.
func (s *Store) Discard(userKey string, session ident.Session) error {
	if err := checkKeys(userKey, string(session)); err != nil {
		return fmt.Errorf("discard session's skills: %w", err)
	}
	unlock, err := s.shelf.lock(userKey)
	if err != nil {
		return fmt.Errorf("discard session's skills: %w", err)
	}
	defer unlock()
	name := checkoutName(userKey, session)
	return errors.Join(s.shelf.dir.RemoveAll(name), s.shelf.dir.RemoveAll(name+".json"))
}

// Prune deletes the copies of all sessions, such as those that an earlier process
// left. It is for the start, before sessions are opened: a copy does not outlive its
// process, as what was refused because of what it holds may stand in it.
func (s *Store) Prune() error {
	users, err := s.shelf.dir.ReadDir(".", maxFolders)
	if err != nil {
		return fmt.Errorf("prune skills: %w", err)
	}
	var errs []error
	for _, u := range users {
		copies := path.Join(u.Name(), "checkouts")
		if _, err := s.shelf.dir.Lstat(copies); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		unlock, err := s.shelf.lock(u.Name())
		if err != nil {
			errs = append(errs, fmt.Errorf("prune skills: %w", err))
			continue
		}
		errs = append(errs, s.shelf.dir.RemoveAll(copies))
		unlock()
	}
	return errors.Join(errs...)
}

// maxFolders bounds how many folders of users are looked at.
const maxFolders = 1_000_000

// RemoveUser deletes all of a user's skills and copies. None there is no error.
func (s *Store) RemoveUser(userKey string) error {
	if err := checkKeys(userKey); err != nil {
		return fmt.Errorf("remove user's skills: %w", err)
	}
	unlock, err := s.shelf.lock(userKey)
	if err != nil {
		return fmt.Errorf("remove user's skills: %w", err)
	}
	defer unlock()
	return s.shelf.dir.RemoveAll(userKey)
}
