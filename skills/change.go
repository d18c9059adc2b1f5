package skills

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"airlock/workspace/mirror"
)

// change is one change under way of what an owner keeps.
type change struct {
	store   *Store
	owner   string
	scope   Scope
	index   index
	changed bool
	dropped []dropped    // to delete once the index is written
	after   func() error // what is to be done once all is kept; nil for nothing
}

// dropped is a version, or, with number 0, all of an entry's.
type dropped struct {
	entry  string
	number int
}

// maxTries bounds how often a change is made anew since another process was faster.
const maxTries = 10

// change lets do change an owner's skills, alone, and keeps the result unless do
// fails. Where another process has changed them meanwhile, do is called again.
func (s *Store) change(owner string, scope Scope, do func(*change) error) error {
	unlock, err := s.shelf.lock(owner)
	if err != nil {
		return err
	}
	defer unlock()
	for range maxTries {
		if err = s.changeOnce(owner, scope, do); !errors.Is(err, mirror.ErrConflict) {
			return err
		}
	}
	return err
}

// changeOnce is change for who holds the lock. It fails with mirror.ErrConflict if
// another process has changed the owner's skills meanwhile.
func (s *Store) changeOnce(owner string, scope Scope, do func(*change) error) error {
	if err := s.pull(owner); err != nil {
		return err
	}
	c := &change{store: s, owner: owner, scope: scope}
	var err error
	if c.index, err = s.shelf.index(owner); err != nil {
		return err
	}
	if err := do(c); err != nil {
		return err
	}
	if c.changed {
		if err := c.keep(); err != nil {
			return err
		}
	}
	if c.after != nil {
		return c.after()
	}
	return nil
}

// keep writes what was changed, and keeps it where other processes find it.
func (c *change) keep() error {
	s := c.store
	if err := s.shelf.setIndex(c.owner, c.index); err != nil {
		return err
	}
	var errs []error
	for _, d := range c.dropped {
		errs = append(errs, s.shelf.drop(c.owner, d.entry, d.number))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.push(c.owner)
}

// save keeps a bundle as the current version, or says by a Fault why it must not.
func (c *change) save(b bundle, v Version, tools Lookup) error {
	p, err := c.fit(b)
	if err != nil {
		return err
	}
	h := c.index.Skills[b.entry]
	v.Number, v.Hash, v.Size, v.At, v.Tools = h.current().Number+1, b.hash(), b.size(), time.Now().UTC(), toolsOf(p, tools)
	if err := c.store.shelf.put(c.owner, v.Number, b); err != nil {
		return err
	}
	h = append(h, v)
	for ; len(h) > keepVersions; h = h[1:] {
		c.dropped = append(c.dropped, dropped{b.entry, h[0].Number})
	}
	c.index.Skills[b.entry], c.changed = h, true
	return nil
}

// remove drops a skill with its history.
func (c *change) remove(entry string) {
	delete(c.index.Skills, entry)
	delete(c.index.Runs, trimEnding(entry))
	c.dropped = append(c.dropped, dropped{entry, 0})
	c.changed = true
}

// fit parses a bundle and says why it must not be kept.
func (c *change) fit(b bundle) (parsed, error) {
	p, err := parse(b, c.scope)
	if err != nil {
		return p, err
	}
	if err := c.checkName(p); err != nil {
		return p, err
	}
	if err := c.checkRoom(b); err != nil {
		return p, err
	}
	if err := c.store.parsers.check(b); err != nil {
		return p, err
	}
	return p, c.store.guard.check(b)
}

// checkName refuses names that would hide another skill.
func (c *change) checkName(p parsed) error {
	for _, reserved := range []Scope{ScopeLibrary, ScopeShared, ScopeUser} {
		if strings.EqualFold(p.name, string(reserved)) {
			return fault("", 0, "the names library, shared and user are reserved; use another")
		}
	}
	for _, other := range c.index.entries() {
		if other != p.bundle.entry && strings.EqualFold(trimEnding(other), p.name) {
			return fault("", 0, "another of the user's skills has that name; use another, or remove that one")
		}
	}
	above := c.store.library
	if c.scope == ScopeUser {
		above = c.store.above()
	}
	if slices.ContainsFunc(above, func(o parsed) bool { return strings.EqualFold(o.name, p.name) }) {
		return fault("", 0, "a skill of the library or a shared one has that name; use another")
	}
	return nil
}

func (c *change) checkRoom(b bundle) error {
	if _, known := c.index.Skills[b.entry]; !known && len(c.index.Skills) >= c.store.maxSkills {
		return fault("", 0, fmt.Sprintf("a user may keep %d skills; remove one", c.store.maxSkills))
	}
	if c.index.size(b.entry)+b.size() > c.store.maxBytes {
		return fault("", 0, fmt.Sprintf("a user's skills may hold %d bytes together; remove one", c.store.maxBytes))
	}
	return nil
}
