// Package skills keeps code and instructions that are worth using again.
//
// A skill is a folder holding SKILL.md, with code beside it, or a single file
// name.js or name.py whose head comment says what it does. There are three scopes:
// the library that is part of the program, the operator's shared folder, and each
// user's own. Scripts read them below /skills and write a session's own copy of
// the user's; Commit takes over from that copy what is fit to be kept.
//
// Start with New, Store.List and Store.Match. Checkout and Commit are for whoever
// runs scripts.
//
// What a skill says is foreign text, since scripts and models write it, and leaves
// as pii.Raw. A user's skills are seen by nobody else. A skill is saved whole or
// not at all, and one that holds personal data, PII tokens or secrets, or that does
// not parse, is refused with a reason that holds nothing of its text. A Store is
// safe for concurrent use, by one process at a time.
package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"airlock/pii"
	"airlock/pii/detect"
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
}

// Store keeps the skills of everybody.
type Store struct {
	libraryFS fs.FS
	library   []parsed
	shared    *rooted.Dir // nil if there is none
	users     *rooted.Dir
	usersHost string
	guard     *guard
	parsers   parsers
	maxSkills int

	mu    sync.Mutex // guards locks
	locks map[string]*sync.Mutex
}

// New opens a store. A shipped skill that is not well-formed is an error.
func New(o Options) (*Store, error) {
	if o.UsersDir == "" || o.MaxSkills < 0 {
		return nil, errors.New("open skills: a folder for users' skills is needed, and a limit that is not negative")
	}
	s := &Store{usersHost: o.UsersDir, maxSkills: o.MaxSkills, locks: map[string]*sync.Mutex{}}
	if s.maxSkills == 0 {
		s.maxSkills = 200
	}
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
	if s.users, err = openDir(o.UsersDir); err != nil {
		return fmt.Errorf("users' skills: %w", err)
	}
	return nil
}

func openDir(name string) (*rooted.Dir, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	return rooted.Open(name)
}

// ReadOnly are the trees of the two scopes that scripts cannot write, by their
// names below /skills.
func (s *Store) ReadOnly() map[string]fs.FS {
	trees := map[string]fs.FS{}
	if s.libraryFS != nil {
		trees[string(ScopeLibrary)] = s.libraryFS
	}
	if s.shared != nil {
		trees[string(ScopeShared)] = s.shared.FS()
	}
	return trees
}

// Close releases the store's folders.
func (s *Store) Close() error {
	var errs []error
	for _, d := range []*rooted.Dir{s.shared, s.users} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// lock makes the caller the only one who works on a user's skills, until the
// returned function is called.
func (s *Store) lock(userKey string) (unlock func()) {
	s.mu.Lock()
	l := s.locks[userKey]
	if l == nil {
		l = &sync.Mutex{}
		s.locks[userKey] = l
	}
	s.mu.Unlock()
	l.Lock()
	return l.Unlock
}
