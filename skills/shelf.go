package skills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"airlock/workspace/rooted"
)

// shelf keeps the versions of skills, for each owner: a user, or the operator. All
// that is kept of skills, sessions' copies apart, goes through it, so that another
// place to keep them in is another shelf.
//
//	<owner>/index.json                      which version of each skill is current
//	<owner>/lock                            held by the process that changes it
//	<owner>/versions/<entry>/<number>/...   its files, never changed once written
//	<owner>/checkouts/<session>/...         a session's copy, shown as /skills
//	<owner>/checkouts/<session>.json        what of it came from which version
//
// A version's files are written first and then the index is replaced, so that a
// reader, and a process that starts after a crash, sees the old skill or the new.
type shelf struct {
	dir  *rooted.Dir
	host string

	mu    sync.Mutex // guards locks
	locks map[string]*sync.Mutex
}

// sharedOwner is who keeps the history of the shared skills; no user's pseudonym is
// as short.
const sharedOwner = "shared"

// maxIndexBytes bounds index.json: 200 skills of 10 versions take 800 KB.
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

func openShelf(host string) (*shelf, error) {
	dir, err := openDir(host)
	if err != nil {
		return nil, err
	}
	return &shelf{dir: dir, host: host, locks: map[string]*sync.Mutex{}}, nil
}

func openDir(name string) (*rooted.Dir, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	return rooted.Open(name)
}

// lock makes the caller the only one, among all processes, who changes an owner's
// skills, until the returned function is called.
func (s *shelf) lock(owner string) (unlock func(), err error) {
	if err := checkKeys(owner); err != nil {
		return nil, err
	}
	s.mu.Lock()
	l := s.locks[owner]
	if l == nil {
		l = &sync.Mutex{}
		s.locks[owner] = l
	}
	s.mu.Unlock()
	l.Lock()
	if _, err := s.dir.MakeDirs(owner, always); err != nil {
		l.Unlock()
		return nil, err
	}
	release, err := lockFile(filepath.Join(s.host, owner, "lock"))
	if err != nil {
		l.Unlock()
		return nil, fmt.Errorf("lock the skills: %w", err)
	}
	return func() { release(); l.Unlock() }, nil
}

func always() error { return nil }

// readJSON reads a file of ours into v; one that is not there leaves v as it is.
func (s *shelf) readJSON(name string, v any) error {
	data, _, err := s.dir.ReadFile(name, maxIndexBytes)
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

func (s *shelf) writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = s.dir.WriteFile(name, data)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path.Base(name), err)
	}
	return nil
}

// index reads what an owner has; nothing if there is none yet.
func (s *shelf) index(owner string) (index, error) {
	ix := index{Schema: 1, Skills: map[string]history{}}
	if err := checkKeys(owner); err != nil {
		return ix, err
	}
	err := s.readJSON(path.Join(owner, "index.json"), &ix)
	if err == nil && ix.Schema != 1 {
		err = fmt.Errorf("index of skills has schema %d, which this version does not know; use a newer airlock", ix.Schema)
	}
	return ix, err
}

func (s *shelf) setIndex(owner string, ix index) error {
	return s.writeJSON(path.Join(owner, "index.json"), ix)
}

func versionDir(owner, entry string, number int) string {
	return path.Join(owner, "versions", entry, strconv.Itoa(number))
}

// put writes a version's files. It counts once the index names it.
func (s *shelf) put(owner string, number int, b bundle) error {
	name := versionDir(owner, b.entry, number)
	// A process that died may have left a part of it.
	if err := s.dir.RemoveAll(name); err != nil {
		return err
	}
	if _, err := s.dir.MakeDirs(name, always); err != nil {
		return err
	}
	dir, err := s.dir.Sub(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return b.write(dir)
}

// get reads a saved version.
func (s *shelf) get(owner, entry string, number int) (bundle, error) {
	dir, err := s.dir.Sub(versionDir(owner, entry, number))
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

// drop deletes the files of a version, or, for number 0, of all.
func (s *shelf) drop(owner, entry string, number int) error {
	if number == 0 {
		return s.dir.RemoveAll(path.Join(owner, "versions", entry))
	}
	return s.dir.RemoveAll(versionDir(owner, entry, number))
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

// size is the bytes of all its files.
func (b bundle) size() int {
	n := 0
	for _, data := range b.files {
		n += len(data)
	}
	return n
}

// write writes a bundle's files.
func (b bundle) write(to *rooted.Dir) error {
	for _, name := range b.names() {
		full := name
		if b.folder {
			full = path.Join(b.entry, name)
		}
		if _, err := to.MakeDirs(path.Dir(full), always); err != nil {
			return err
		}
		if err := to.WriteFile(full, b.files[name]); err != nil {
			return err
		}
	}
	return nil
}
