package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"airlock/pii"
	"airlock/workspace/rooted"
)

var (
	// ErrShipped is wrapped when a skill of the library is to be changed.
	ErrShipped = errors.New("skills of the library are part of the program and cannot be changed; save a copy under another name")
	// ErrChanged is wrapped when a skill is not the one that was looked at.
	ErrChanged = errors.New("the skill was changed since it was reviewed; review it again")
	// ErrNoShared is wrapped when there is no folder of shared skills.
	ErrNoShared = errors.New("there is no folder for shared skills")
)

// Upload is a skill from outside.
type Upload struct {
	// Name is the folder's, or the single file's with its ending.
	Name string
	// Files are by their names within the folder; a single file has its own name.
	Files map[string][]byte
}

// FileDiff is how one file differs between two versions.
type FileDiff struct {
	File string
	// Text is a unified diff.
	Text pii.Raw
}

// Check is a script of a skill that shows that it works.
type Check struct {
	// Name is "example" or "test".
	Name string
	// Language is that of its code, Script the code itself, which others wrote.
	Language, Script string
}

// place finds whose history a name means.
func place(userKey, name string) (owner string, scope Scope, bare string, err error) {
	prefix, rest, ok := strings.Cut(name, "/")
	switch {
	case !ok:
		return userKey, ScopeUser, name, nil
	case Scope(prefix) == ScopeShared:
		return sharedOwner, ScopeShared, rest, nil
	case Scope(prefix) == ScopeUser:
		return userKey, ScopeUser, rest, nil
	case Scope(prefix) == ScopeLibrary:
		return "", ScopeLibrary, rest, ErrShipped
	}
	return "", "", "", ErrUnknown
}

// Add saves an upload as a user's skill, or as the new version of one. What is
// wrong with it is a *Fault.
func (s *Store) Add(userKey string, u Upload, o Origin) (Skill, error) {
	b, err := newBundle(u)
	if err == nil {
		err = s.change(userKey, ScopeUser, func(c *change) error {
			if hash := c.index.Skills[b.entry].current().Hash; hash != "" && hash == b.hash() {
				return nil
			}
			return c.save(b, Version{How: ByUpload}, o.Tools)
		})
	}
	if err != nil {
		return Skill{}, fmt.Errorf("add skill: %w", err)
	}
	p, err := s.find(userKey, "user/"+trimEnding(b.entry), o.Tools)
	return p.Skill, err
}

// Delete removes a user's skill, or a shared one, with its history.
func (s *Store) Delete(userKey, name string) error {
	owner, scope, bare, err := place(userKey, name)
	if err == nil {
		err = s.change(owner, scope, func(c *change) error {
			entry, ok := c.index.entry(bare)
			if ok {
				c.remove(entry)
			}
			if scope == ScopeShared {
				return s.unpublish(bare, ok)
			}
			if !ok {
				return ErrUnknown
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("delete skill: %w", err)
	}
	return nil
}

// History lists the versions of a skill that are kept, oldest first; the last is
// current. Skills of the library, and files that the operator has put among the
// shared ones by hand, have none.
func (s *Store) History(userKey, name string) ([]Version, error) {
	owner, _, bare, err := place(userKey, name)
	if err != nil {
		return nil, fmt.Errorf("history of a skill: %w", err)
	}
	ix, err := s.shelf.index(owner)
	if err != nil {
		return nil, fmt.Errorf("history of a skill: %w", err)
	}
	entry, ok := ix.entry(bare)
	if !ok {
		return nil, fmt.Errorf("history of a skill: %w", ErrUnknown)
	}
	return ix.Skills[entry], nil
}

// Diff tells how a skill's version to differs from its version from. 0 stands for
// the current one as to, and for the one before to as from.
func (s *Store) Diff(userKey, name string, from, to int) ([]FileDiff, error) {
	owner, _, bare, err := place(userKey, name)
	if err != nil {
		return nil, fmt.Errorf("compare versions: %w", err)
	}
	ix, err := s.shelf.index(owner)
	if err != nil {
		return nil, fmt.Errorf("compare versions: %w", err)
	}
	entry, ok := ix.entry(bare)
	if !ok {
		return nil, fmt.Errorf("compare versions: %w", ErrUnknown)
	}
	if to == 0 {
		to = ix.Skills[entry].current().Number
	}
	if from == 0 {
		from = to - 1
	}
	var old bundle
	if from > 0 {
		if old, err = s.version(owner, entry, ix, from); err != nil {
			return nil, fmt.Errorf("compare versions: %w", err)
		}
	}
	now, err := s.version(owner, entry, ix, to)
	if err != nil {
		return nil, fmt.Errorf("compare versions: %w", err)
	}
	return compare(old, now), nil
}

func (s *Store) version(owner, entry string, ix index, number int) (bundle, error) {
	if _, ok := ix.Skills[entry].number(number); !ok {
		return bundle{}, fmt.Errorf("version %d is not kept: %w; its history shows those that are", number, ErrUnknown)
	}
	return s.shelf.get(owner, entry, number)
}

// compare lists the files that differ, by name.
func compare(old, now bundle) []FileDiff {
	both := bundle{files: map[string][]byte{}}
	for _, b := range []bundle{old, now} {
		for name, data := range b.files {
			both.files[name] = data
		}
	}
	var found []FileDiff
	for _, name := range both.names() {
		if text := diff.Diff("a/"+name, old.files[name], "b/"+name, now.files[name]); len(text) > 0 {
			found = append(found, FileDiff{name, pii.NewRaw(string(text))})
		}
	}
	return found
}

// Rollback saves an earlier version again as the current one.
func (s *Store) Rollback(userKey, name string, number int, o Origin) error {
	owner, scope, bare, err := place(userKey, name)
	if err == nil {
		err = s.change(owner, scope, func(c *change) error {
			entry, ok := c.index.entry(bare)
			if !ok {
				return ErrUnknown
			}
			b, err := s.version(owner, entry, c.index, number)
			if err != nil {
				return err
			}
			if err := c.save(b, Version{How: ByRollback, From: number}, o.Tools); err != nil {
				return err
			}
			if scope == ScopeShared {
				return s.publish(b)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("roll back a skill: %w", err)
	}
	return nil
}

// Review is what a promotion would change.
type Review struct {
	// Hash identifies what was reviewed, for Promote.
	Hash string
	// Number is the version of the user's skill, Diff how it differs from the shared
	// skill of that name, or all of it if there is none.
	Number int
	Diff   []FileDiff
}

// Review tells what promoting a user's skill would change for everybody.
func (s *Store) Review(userKey, name string) (Review, error) {
	p, err := s.find(userKey, "user/"+strings.TrimPrefix(name, "user/"), nil)
	if err != nil {
		return Review{}, fmt.Errorf("review a skill: %w", err)
	}
	var old bundle
	if s.shared != nil {
		shared, _ := load(s.shared, ScopeShared)
		for _, o := range shared {
			if o.name == p.name {
				old = o.bundle
			}
		}
	}
	return Review{Hash: p.bundle.hash(), Number: p.Number, Diff: compare(old, p.bundle)}, nil
}

// Promote moves a user's skill to the shared ones, where everybody has it. The hash
// is the review's: a skill that has been changed since is not promoted.
func (s *Store) Promote(userKey, name, hash string, o Origin) (Skill, error) {
	if s.shared == nil {
		return Skill{}, fmt.Errorf("promote a skill: %w", ErrNoShared)
	}
	bare := strings.TrimPrefix(name, "user/")
	entry := ""
	err := s.change(sharedOwner, ScopeShared, func(shared *change) (err error) {
		entry, err = shared.promote(userKey, bare, hash, o)
		return err
	})
	if err == nil {
		err = s.change(userKey, ScopeUser, func(user *change) error {
			if user.index.Skills[entry].current().Hash == hash { // else it was changed meanwhile, and stays the user's
				user.remove(entry)
			}
			return nil
		})
	}
	if err != nil {
		return Skill{}, fmt.Errorf("promote a skill: %w", err)
	}
	p, err := s.find(userKey, "shared/"+bare, o.Tools)
	return p.Skill, err
}

// promote takes over a user's skill. It gives the entry that the skill is.
func (c *change) promote(userKey, bare, hash string, o Origin) (entry string, err error) {
	ix, err := c.store.shelf.index(userKey)
	if err != nil {
		return "", err
	}
	entry, ok := ix.entry(bare)
	if !ok {
		return "", ErrUnknown
	}
	v := ix.Skills[entry].current()
	if v.Hash != hash {
		return "", ErrChanged
	}
	b, err := c.store.shelf.get(userKey, entry, v.Number)
	if err != nil {
		return "", err
	}
	err = c.save(b, Version{How: ByPromotion, Author: userKey, Session: v.Session, Task: v.Task, Verified: v.Verified}, o.Tools)
	if err != nil {
		return "", err
	}
	return entry, c.store.publish(b)
}

// publish puts a bundle into the shared folder, whole.
func (s *Store) publish(b bundle) error {
	fresh, err := os.MkdirTemp(s.sharedDir, ".new-")
	if err != nil {
		return fmt.Errorf("write the shared skill: %w", err)
	}
	defer os.RemoveAll(fresh)
	dir, err := rooted.Open(fresh)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := b.write(dir); err != nil {
		return err
	}
	if err := s.shared.RemoveAll(b.entry); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(fresh, b.entry), filepath.Join(s.sharedDir, b.entry)); err != nil {
		return fmt.Errorf("write the shared skill: %w", err)
	}
	return nil
}

// unpublish takes a skill out of the shared folder. That it is not there is an
// error unless its history was.
func (s *Store) unpublish(bare string, known bool) error {
	if s.shared == nil {
		return ErrNoShared
	}
	for _, entry := range []string{bare, bare + ".js", bare + ".py"} {
		if _, err := s.shared.Lstat(entry); err == nil {
			return s.shared.RemoveAll(entry)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !known {
		return ErrUnknown
	}
	return nil
}

// Checks are the scripts by which a skill shows that it works, and the hash of what
// they are checks of, for Verified.
func (s *Store) Checks(userKey, name string) ([]Check, string, error) {
	p, err := s.find(userKey, name, nil)
	if err != nil {
		return nil, "", fmt.Errorf("checks of a skill: %w", err)
	}
	language := p.Language
	if language == "" {
		language = "javascript"
	}
	var checks []Check
	for _, c := range []Check{{"example", language, p.example}, {"test", language, p.test}} {
		if c.Script != "" {
			checks = append(checks, c)
		}
	}
	return checks, p.bundle.hash(), nil
}

// Verified notes the outcome of a skill's checks, where a history is kept and the
// skill is still the one that was checked.
func (s *Store) Verified(userKey, name, hash string, v Verification) error {
	p, err := s.find(userKey, name, nil)
	if err != nil {
		return fmt.Errorf("note a skill's checks: %w", err)
	}
	owner := userKey
	switch p.Scope {
	case ScopeLibrary:
		return nil
	case ScopeShared:
		owner = sharedOwner
	}
	err = s.change(owner, p.Scope, func(c *change) error {
		h := c.index.Skills[p.bundle.entry]
		if len(h) == 0 || h.current().Hash != hash {
			return nil
		}
		h[len(h)-1].Verified, c.changed = &v, true
		return nil
	})
	if err != nil {
		return fmt.Errorf("note a skill's checks: %w", err)
	}
	return nil
}

// newBundle checks the names and sizes of an upload.
func newBundle(u Upload) (bundle, error) {
	ext := path.Ext(u.Name)
	b := bundle{entry: u.Name, folder: ext != ".js" && ext != ".py", files: map[string][]byte{}}
	if !entryForm.MatchString(u.Name) {
		return b, faultEntryName()
	}
	if _, own := u.Files[u.Name]; !b.folder && (len(u.Files) != 1 || !own) {
		return b, fault("", 0, "a skill of one file holds that file alone; make it a folder with SKILL.md")
	}
	seen := map[string]bool{}
	for name, data := range u.Files {
		if err := checkFileName(name); err != nil {
			return b, err
		}
		if seen[strings.ToLower(name)] {
			return b, fault("", 0, "two files have names that differ in case only; rename one")
		}
		if len(data) > maxFileBytes {
			return b, fault("", 0, fmt.Sprintf("a file has more than %d bytes; keep data in /workspace", maxFileBytes))
		}
		seen[strings.ToLower(name)] = true
		b.files[name] = data
	}
	for name := range seen {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return b, fault("", 0, "a file has the name of a folder; rename it")
			}
		}
	}
	return b, b.checkSize()
}

// checkFileName refuses names that could lead out of a skill's folder, or that
// systems read differently.
func checkFileName(name string) error {
	elements := strings.Split(name, "/")
	if len(elements) > maxDepth+1 {
		return faultDepth()
	}
	for _, element := range elements {
		if !fileForm.MatchString(element) {
			return faultFileName()
		}
	}
	return nil
}
