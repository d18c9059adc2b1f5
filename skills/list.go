package skills

import (
	"fmt"
	"strings"

	"airlock/ident"
	"airlock/pii"
)

// List lists the skills that a user has: the library's, the shared ones, and
// their own. Shared ones that are not well-formed are left out; Faults tells them.
func (s *Store) List(userKey string, tools Lookup) ([]Skill, error) {
	all, err := s.all(userKey, tools)
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	listed := make([]Skill, len(all))
	for i, p := range all {
		listed[i] = p.Skill
	}
	return listed, nil
}

// Get returns a skill by its name or ID, and the text that describes it: SKILL.md,
// or the code of a single file. A name without a scope is looked up in the library
// first, then among the shared, then the user's own, so that none can take the place
// of a shipped one; "user/name" is the user's own.
func (s *Store) Get(userKey, name string, tools Lookup) (Skill, pii.Raw, error) {
	p, err := s.find(userKey, name, tools)
	if err != nil {
		return Skill{}, pii.Raw{}, fmt.Errorf("get skill: %w", err)
	}
	return p.Skill, pii.NewRaw(string(p.bundle.files[p.about])), nil
}

func (s *Store) find(userKey, name string, tools Lookup) (parsed, error) {
	all, err := s.all(userKey, tools)
	if err != nil {
		return parsed{}, err
	}
	for _, p := range all {
		if p.named(name) {
			return p, nil
		}
	}
	return parsed{}, fmt.Errorf("%w; list them to see their names", ErrUnknown)
}

func (p parsed) named(name string) bool {
	scope, rest, ok := strings.Cut(name, "/")
	if ok {
		return string(p.Scope) == scope && p.name == rest
	}
	return p.name == name
}

// Faults says what keeps shared skills from being used, for the operator.
func (s *Store) Faults() []error {
	if s.shared == nil {
		return nil
	}
	_, faults := load(s.shared, ScopeShared)
	return faults
}

// above are the skills of the two scopes that users cannot write.
func (s *Store) above() []parsed {
	all := append([]parsed(nil), s.library...)
	if s.shared != nil {
		shared, _ := load(s.shared, ScopeShared)
		all = append(all, shared...)
	}
	return all
}

// all are the skills a user has, in the order library, shared, user.
func (s *Store) all(userKey string, tools Lookup) ([]parsed, error) {
	return s.view(userKey, tools, nil)
}

// view is all, or, with a session's manifest, what that session's copy holds.
func (s *Store) view(userKey string, tools Lookup, from base) ([]parsed, error) {
	ix, err := s.shelf.index(userKey)
	if err != nil {
		return nil, err
	}
	promoted, err := s.shelf.index(sharedOwner)
	if err != nil {
		return nil, err
	}
	all := s.above()
	for i := range all {
		p := &all[i]
		if p.Scope == ScopeShared {
			// A file that the operator has put there by hand since has no history.
			if v, ok := promoted.Skills[p.bundle.entry].hashed(p.bundle.hash()); ok {
				p.tell(v, tools)
			}
		}
	}
	all = append(all, s.own(userKey, ix, tools, from)...)
	for i := range all {
		all[i].Runs = ix.Runs[all[i].ID]
	}
	return all, nil
}

// tell adds what the history knows.
func (p *parsed) tell(v Version, tools Lookup) {
	p.Number, p.Saved, p.Verified, p.Stale = v.Number, v.At, v.Verified, v.stale(tools)
}

// own reads the user's skills. One that can no longer be read is left out.
func (s *Store) own(userKey string, ix index, tools Lookup, from base) []parsed {
	var found []parsed
	for _, entry := range ix.entries() {
		v := ix.Skills[entry].current()
		if from != nil {
			var copied bool
			if v, copied = ix.Skills[entry].hashed(from[entry]); !copied {
				continue
			}
		}
		b, err := s.shelf.get(userKey, entry, v.Number)
		if err != nil {
			continue
		}
		if p, err := parse(b, ScopeUser); err == nil {
			p.tell(v, tools)
			found = append(found, p)
		}
	}
	return found
}

// copyOf is what a session's copy was made of.
func (s *Store) copyOf(userKey string, session ident.Session) (base, error) {
	if err := checkKeys(userKey, string(session)); err != nil {
		return nil, err
	}
	from := base{}
	return from, s.shelf.readJSON(checkoutName(userKey, session)+".json", &from)
}
