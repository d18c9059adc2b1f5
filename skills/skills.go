// Package skills keeps code and instructions that are worth using again.
//
// A skill is a folder holding SKILL.md, with code beside it, or a single file
// name.js or name.py whose head comment says what it does. There are three scopes:
// the library that is part of the program, the operator's shared folder, and each
// user's own. Scripts read them below /skills and write a session's own copy of
// the user's; Commit takes over from that copy what is fit to be kept.
//
// Start with New, Store.List and Store.Match. Checkout and Commit are for whoever
// runs scripts; Add, Rollback, Promote and their like for whoever looks after them.
//
// What a skill says is foreign text, since scripts and models write it, and leaves
// as pii.Raw. A user's skills are seen by nobody else. A skill is saved whole or
// not at all, and one that holds personal data, PII tokens or secrets, or that does
// not parse, is refused with a reason that holds nothing of its text. A Store is
// safe for concurrent use, by several processes too.
package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"airlock/pii"
	"airlock/pii/detect"
	"airlock/workspace/mirror"
	"airlock/workspace/rooted"
)

// Scope says whose a skill is.
type Scope string

// The three scopes, in the order in which a name is looked up.
const (
	ScopeLibrary Scope = "library"
	ScopeShared  Scope = "shared"
	ScopeUser    Scope = "user"
)

var (
	// ErrUnknown is wrapped when there is no skill of a name.
	ErrUnknown = fmt.Errorf("no such skill: %w", fs.ErrNotExist)
	// ErrKey is wrapped when a user's pseudonym or a session's id is not of the
	// form that package ident gives them.
	ErrKey = errors.New("not a pseudonym or id; take it from package ident")
)

// Skill is one skill as it is known without reading its code.
type Skill struct {
	// ID is what Get takes: "library/sales-summary", "shared/x", "my_skill".
	ID string
	// Path is where a script finds it: "/skills/library/sales-summary/main.js". For
	// instructions without code it is the path of SKILL.md.
	Path  string
	Scope Scope
	// Language is "javascript" or "python", or "" for instructions without code.
	Language          string
	Name, Description pii.Raw
	Version           string
	// AllowedTools are patterns of the tools it may use; empty if it does not say.
	AllowedTools []string
	Inputs       []Input
	// Number and Saved are of the current version; zero where no history is kept.
	Number int
	Saved  time.Time
	// Stale are its tools whose schemas have changed since it was saved.
	Stale    []string
	Runs     Runs
	Verified *Verification

	words *vocabulary
}

// Input is a value that a skill's function takes, as a field of its argument.
type Input struct {
	Name        string
	Type        InputType
	Description pii.Raw
	// Enum are the values it may have; any if there are none.
	Enum     []pii.Raw
	Required bool
}

// InputType says what an Input holds.
type InputType string

// The types of inputs.
const (
	String  InputType = "string"
	Integer InputType = "integer"
	Number  InputType = "number"
	Boolean InputType = "boolean"
	Date    InputType = "date"  // 2025-03-31
	Month   InputType = "month" // 2025-03
	File    InputType = "file"  // the name or path of a file
	Formula InputType = "formula"
)

// Options configure a Store.
type Options struct {
	// Library is the tree of shipped skills, as the function Library returns it.
	Library fs.FS
	// SharedDir is the operator's folder; none if empty. It is made if missing.
	SharedDir string
	// UsersDir is where users' skills are kept. It is made if missing.
	UsersDir string
	// Detector finds what must not be kept; nil takes one with the standard types.
	Detector *detect.Detector
	// MaxSkills bounds the skills of one user; 0 means 200.
	MaxSkills int
	// MaxBytes bounds their current versions together; 0 means 20 MiB.
	MaxBytes int
	// Mirror keeps all of it where other processes find it; nil where there are none.
	Mirror *mirror.Mirror
}

// Store keeps the skills of everybody.
type Store struct {
	libraryFS fs.FS
	library   []parsed
	shared    *rooted.Dir // nil if there is none
	sharedDir string
	shelf     *shelf
	guard     *guard
	parsers   parsers
	maxSkills int
	maxBytes  int
	mirror    *mirror.Mirror // nil where no other process needs the skills
}

// New opens a store. A shipped skill that is not well-formed is an error.
func New(o Options) (*Store, error) {
	if o.UsersDir == "" || o.MaxSkills < 0 || o.MaxBytes < 0 {
		return nil, errors.New("open skills: a folder for users' skills is needed, and limits that are not negative")
	}
	s := &Store{sharedDir: o.SharedDir, maxSkills: cmp.Or(o.MaxSkills, 200), maxBytes: cmp.Or(o.MaxBytes, 20<<20), mirror: o.Mirror}
	if err := s.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("open skills: %w", err), s.Close())
	}
	return s, nil
}

func (s *Store) open(o Options) (err error) {
	if s.guard, err = newGuard(o.Detector); err != nil {
		return err
	}
	if o.Library != nil {
		found, faults := load(embedded{o.Library}, ScopeLibrary)
		if len(faults) > 0 {
			return fmt.Errorf("library: %w", faults[0])
		}
		s.libraryFS, s.library = o.Library, found
	}
	if o.SharedDir != "" {
		if s.shared, err = openDir(o.SharedDir); err != nil {
			return fmt.Errorf("shared skills: %w", err)
		}
	}
	if s.shelf, err = openShelf(o.UsersDir); err != nil {
		return fmt.Errorf("users' skills: %w", err)
	}
	return nil
}

// ReadOnly are the trees that are part of the program, by their names below
// /skills. Shared skills are in SharedDir, read-only for scripts too.
func (s *Store) ReadOnly() map[string]fs.FS {
	if s.libraryFS == nil {
		return nil
	}
	return map[string]fs.FS{string(ScopeLibrary): s.libraryFS}
}

// SharedDir is the host folder of the shared skills; empty if there is none.
func (s *Store) SharedDir() string { return s.sharedDir }

// Close releases the store's folders.
func (s *Store) Close() error {
	var errs []error
	if s.shared != nil {
		errs = append(errs, s.shared.Close())
	}
	if s.shelf != nil {
		errs = append(errs, s.shelf.dir.Close())
	}
	return errors.Join(errs...)
}
