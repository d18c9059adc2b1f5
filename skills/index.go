package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"time"

	"airlock/ident"
)

// Below UsersDir each user has
//
//	<user>/index.json                      which version of each skill is current
//	<user>/versions/<entry>/<number>/...   its files, never changed once written
//	<user>/checkouts/<session>/...         a session's copy, shown as /skills
//	<user>/checkouts/<session>.json        what of it came from which version
//
// A commit writes a version's files first and then replaces the index, so that a
// reader, and a process that starts after a crash, sees the old skill or the new.

// keepVersions is how many versions of a skill are kept, the current one included.
const keepVersions = 10

// index is what index.json holds.
type index struct {
	Schema int                `json:"schema"`
	Skills map[string]history `json:"skills"`
}

// history is the versions of one skill, oldest first; the last is current.
type history []version

// version is one saved state of a skill.
type version struct {
	Number int       `json:"number"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	// Session is the one whose script wrote it.
	Session ident.Session `json:"session"`
}

func (h history) current() version {
	if len(h) == 0 {
		return version{}
	}
	return h[len(h)-1]
}

// maxIndexBytes bounds index.json: 200 skills of 10 versions take 400 KB.
const maxIndexBytes = 4 << 20

// keyForm is what pseudonyms and ids look like; no dot, so no ".." and no user id.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func checkKeys(keys ...string) error {
	for _, k := range keys {
		if !keyForm.MatchString(k) {
			return ErrKey
		}
	}
	return nil
}

// readJSON reads a file of ours into v; one that is not there leaves v as it is.
func (s *Store) readJSON(name string, v any) error {
	data, _, err := s.users.ReadFile(name, maxIndexBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path.Base(name), err)
	}
	return nil
}

func (s *Store) writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = s.users.WriteFile(name, data)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path.Base(name), err)
	}
	return nil
}

func (s *Store) readIndex(userKey string) (index, error) {
	ix := index{Schema: 1, Skills: map[string]history{}}
	if err := checkKeys(userKey); err != nil {
		return ix, err
	}
	err := s.readJSON(path.Join(userKey, "index.json"), &ix)
	if err == nil && ix.Schema != 1 {
		err = fmt.Errorf("index of skills has schema %d, which this version does not know; use a newer airlock", ix.Schema)
	}
	return ix, err
}

func (ix index) entries() []string {
	entries := make([]string, 0, len(ix.Skills))
	for e := range ix.Skills {
		entries = append(entries, e)
	}
	slices.Sort(entries)
	return entries
}

func versionDir(userKey, entry string, number int) string {
	return path.Join(userKey, "versions", entry, strconv.Itoa(number))
}

// hash identifies a bundle's content.
func (b bundle) hash() string {
	h := sha256.New()
	for _, name := range b.names() {
		fmt.Fprintf(h, "%d %s %d ", len(name), name, len(b.files[name]))
		h.Write(b.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// readVersion reads a saved version.
func (s *Store) readVersion(userKey, entry string, number int) (bundle, error) {
	dir, err := s.users.Sub(versionDir(userKey, entry, number))
	if err != nil {
		return bundle{}, err
	}
	defer dir.Close()
	info, err := dir.Stat(entry)
	if err != nil {
		return bundle{}, err
	}
	return readBundle(dir, info)
}

// own reads the user's skills. One that can no longer be read is left out.
func (s *Store) own(userKey string) ([]parsed, error) {
	if err := checkKeys(userKey); err != nil {
		return nil, err
	}
	defer s.lock(userKey)()
	ix, err := s.readIndex(userKey)
	if err != nil {
		return nil, err
	}
	var found []parsed
	for _, entry := range ix.entries() {
		b, err := s.readVersion(userKey, entry, ix.Skills[entry].current().Number)
		if err != nil {
			continue
		}
		if p, err := parse(b, ScopeUser); err == nil {
			found = append(found, p)
		}
	}
	return found, nil
}
