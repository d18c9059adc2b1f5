package skills

import (
	"fmt"
	"strings"

	"airlock/pii"
)

// List lists the skills that a user has: the library's, the shared ones, and
// their own. Shared ones that are not well-formed are left out; Faults tells them.
func (s *Store) List(userKey string) ([]Skill, error) {
	all, err := s.all(userKey)
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	listed := make([]Skill, len(all))
	for i, p := range all {
		listed[i] = p.Skill
	}
	return listed, nil
}

// Get returns a skill by its ID, and the text that describes it: SKILL.md, or the
// code of a single file. A name without a scope is looked up in the library first,
// then among the shared, then the user's own, so that none can take the place of a
// shipped one.
func (s *Store) Get(userKey, name string) (Skill, pii.Raw, error) {
	all, err := s.all(userKey)
	if err != nil {
		return Skill{}, pii.Raw{}, fmt.Errorf("get skill: %w", err)
	}
	for _, p := range all {
		if p.ID == name || (!strings.Contains(name, "/") && p.name == name) {
			return p.Skill, pii.NewRaw(string(p.bundle.files[p.about])), nil
		}
	}
	return Skill{}, pii.Raw{}, fmt.Errorf("get skill: %w; list them to see their names", ErrUnknown)
}

// Faults says what keeps shared skills from being used, for the operator.
func (s *Store) Faults() []error {
	if s.shared == nil {
		return nil
	}
	_, faults := load(s.shared, ScopeShared)
	return faults
}

// all are the skills a user has, in the order library, shared, user.
func (s *Store) all(userKey string) ([]parsed, error) {
	all := append([]parsed(nil), s.library...)
	if s.shared != nil {
		shared, _ := load(s.shared, ScopeShared)
		all = append(all, shared...)
	}
	own, err := s.own(userKey)
	if err != nil {
		return nil, err
	}
	return append(all, own...), nil
}
