package mirror

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"airlock/workspace/rooted"
)

// manifest is the list of a folder's files, by path.
type manifest struct {
	Packs []pack  `json:"packs"`
	Files []entry `json:"files"`
}

// pack is a value that holds what is in files, one behind another.
type pack struct {
	ID   string `json:"id"`
	Size int    `json:"size"`
}

// kind says what a path is.
type kind string

const (
	file   kind = ""
	folder kind = "d"
	link   kind = "l"
)

// entry is one path of a folder.
type entry struct {
	Path string `json:"p"`
	Kind kind   `json:"k,omitempty"`
	// Target is what a link names.
	Target string `json:"t,omitempty"`
	// The rest is of files. Modified is in milliseconds since 1970.
	Size       int64  `json:"s,omitempty"`
	Modified   int64  `json:"m,omitempty"`
	Executable bool   `json:"x,omitempty"`
	Hash       []byte `json:"h,omitempty"` // SHA-256 of what is in it
	// Pack and At are where that begins, unless Size is 0. It goes on at the beginning
	// of the pack behind.
	Pack int `json:"a,omitempty"`
	At   int `json:"o,omitempty"`
}

const (
	// packBytes is how large a pack may be. It fits into one message of the store.
	packBytes = 768 << 10
	// maxList bounds the list of a folder's files, in bytes. 10,000 files whose paths
	// have 100 characters take 2.5 MB.
	maxList = 32 << 20
	// maxEntries bounds the number of entries of a list.
	maxEntries = 100_000
	maxTarget  = 4096 // PATH_MAX of Linux
	// maxModified is some 270 years before or after 1970.
	maxModified = 1 << 43
)

// same reports whether two entries are of equal files.
func (e entry) same(other entry) bool {
	return e.Path == other.Path && e.Kind == other.Kind && e.Target == other.Target && e.Size == other.Size &&
		e.Modified == other.Modified && e.Executable == other.Executable && bytes.Equal(e.Hash, other.Hash)
}

func (e entry) modified() time.Time { return time.UnixMilli(e.Modified) }

// find gives the entry of a path.
func (m manifest) find(name string) (entry, bool) {
	i, ok := slices.BinarySearchFunc(m.Files, name, func(e entry, name string) int { return cmp.Compare(e.Path, name) })
	if !ok {
		return entry{}, false
	}
	return m.Files[i], true
}

var packForm = regexp.MustCompile(`^[0-9a-f]{8}-[a-z2-7]{16}$`)

// errManifest is returned for a list that no Mirror has made.
var errManifest = errors.New("the list of the files that are kept of a folder is damaged")

func decode(text []byte) (m manifest, err error) {
	if len(text) > maxList {
		return m, errManifest
	}
	if json.Unmarshal(text, &m) != nil {
		return manifest{}, errManifest
	}
	return m, m.validate()
}

// validate refuses what could make whoever follows the list do more, or elsewhere, than
// what is in a folder.
func (m manifest) validate() error {
	if len(m.Files) > maxEntries {
		return errManifest
	}
	starts, err := m.starts()
	if err != nil {
		return err
	}
	folders := map[string]bool{".": true}
	before := ""
	for _, e := range m.Files {
		if e.Path <= before || e.Path == "." || rooted.CheckName(e.Path) != nil || !folders[path.Dir(e.Path)] || !e.valid(starts) {
			return errManifest
		}
		folders[e.Path] = e.Kind == folder
		before = e.Path
	}
	return nil
}

// starts are the places of the packs if they were one behind another, with the end of
// the last.
func (m manifest) starts() ([]int64, error) {
	seen := map[string]bool{}
	starts := []int64{0}
	for i, p := range m.Packs {
		if !packForm.MatchString(p.ID) || seen[p.ID] || p.Size <= 0 || p.Size > packBytes {
			return nil, errManifest
		}
		seen[p.ID] = true
		starts = append(starts, starts[i]+int64(p.Size))
	}
	return starts, nil
}

func (e entry) valid(starts []int64) bool {
	switch e.Kind {
	case folder:
		return true
	case link:
		return e.Target != "" && len(e.Target) <= maxTarget && !strings.ContainsRune(e.Target, 0)
	case file:
		if len(e.Hash) != sha256.Size || e.Size < 0 || e.Modified < -maxModified || e.Modified > maxModified {
			return false
		}
		if e.Size == 0 {
			return true
		}
		last := len(starts) - 1
		return e.Pack >= 0 && e.Pack < last && e.At >= 0 && int64(e.At) < starts[e.Pack+1]-starts[e.Pack] && e.Size <= starts[last]-starts[e.Pack]-int64(e.At)
	}
	return false
}

// size is the bytes of all files.
func (m manifest) size() (n int64) {
	for _, e := range m.Files {
		n += e.Size
	}
	return n
}

// used is how many bytes of each pack belong to files.
func (m manifest) used() []int64 {
	used := make([]int64, len(m.Packs))
	for _, e := range m.Files {
		at := int64(e.At)
		for i, left := e.Pack, e.Size; left > 0; i++ {
			here := min(left, int64(m.Packs[i].Size)-at)
			used[i] += here
			left, at = left-here, 0
		}
	}
	return used
}

// withoutUnused is the list without packs of which nothing is used.
func (m manifest) withoutUnused() manifest {
	used := m.used()
	out := manifest{Files: slices.Clone(m.Files)}
	moved := make([]int, len(m.Packs))
	for i, p := range m.Packs {
		moved[i] = len(out.Packs)
		if used[i] > 0 {
			out.Packs = append(out.Packs, p)
		}
	}
	for i := range out.Files {
		if e := &out.Files[i]; e.Size > 0 {
			e.Pack = moved[e.Pack]
		}
	}
	return out
}

// head is what is kept under a folder's own name: the list, or the packs that hold it.
type head struct {
	Version int             `json:"version"`
	At      time.Time       `json:"at"` // when it was made
	List    json.RawMessage `json:"list,omitempty"`
	Parts   []string        `json:"parts,omitempty"`
}

const headVersion = 1

func readHead(text []byte) (h head, err error) {
	if err := json.Unmarshal(text, &h); err != nil {
		return h, errManifest
	}
	if h.Version != headVersion {
		return h, fmt.Errorf("the files of a folder were kept by another version of airlock (%d); use that one", h.Version)
	}
	if len(h.Parts) > maxList/packBytes+1 || slices.ContainsFunc(h.Parts, func(id string) bool { return !packForm.MatchString(id) }) {
		return h, errManifest
	}
	return h, nil
}
