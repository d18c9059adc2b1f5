package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"airlock/workspace/rooted"
)

// Report says what a commit did.
type Report struct {
	// Saved and Removed are the names of skills, which were checked.
	Saved, Removed []string
	Refused        []Refusal
}

// Refusal is a skill that was not saved. It stays in the session's copy, so that
// it can be put right.
type Refusal struct {
	// Name is what a script called it, or a stand-in if that is no proper name.
	Name string
	// Reason says why and what to do, without anything of its text.
	Reason string
}

// commit is one commit under way.
type commit struct {
	*change
	origin Origin
	copied *rooted.Dir
	from   base
	report Report
}

// Commit takes over what a session has changed in its copy since it was checked
// out: new and changed skills that are fit to be kept, and removals. Each skill is
// taken whole or refused. Where another session has changed the same skill since,
// the one committed last stays; a skill that another has changed is not removed.
// The runs of the skills that the origin's script loaded are counted.
func (s *Store) Commit(ctx context.Context, userKey string, o Origin) (Report, error) {
	if err := checkKeys(userKey, string(o.Session)); err != nil {
		return Report{}, fmt.Errorf("commit skills: %w", err)
	}
	var report Report
	err := s.change(userKey, ScopeUser, func(c *change) error {
		copied, err := s.shelf.dir.Sub(checkoutName(userKey, o.Session))
		if err != nil {
			return fmt.Errorf("check out first: %w", err)
		}
		defer copied.Close()
		run := &commit{change: c, origin: o, copied: copied, from: base{}}
		err = run.run(ctx)
		report = run.report
		return err
	})
	if err != nil {
		return Report{}, fmt.Errorf("commit skills: %w", err)
	}
	return report, nil
}

func (c *commit) run(ctx context.Context) error {
	manifest := checkoutName(c.owner, c.origin.Session) + ".json"
	if err := c.store.shelf.readJSON(manifest, &c.from); err != nil {
		return err
	}
	before := maps.Clone(c.from)
	there, err := c.takeAll(ctx)
	if errors.Is(err, rooted.ErrTooLarge) {
		reason := fmt.Sprintf("/skills holds more than %d entries, so none was looked at; remove some", maxEntries)
		c.report.Refused = []Refusal{{"/skills", reason}}
		return nil
	}
	if err != nil {
		return err
	}
	c.removeMissing(there)
	if c.index.ran(c.origin, c.exists) {
		c.changed = true
	}
	if !maps.Equal(c.from, before) {
		// After the index: what is kept and newer than the copy seems is found to be equal.
		c.after = func() error { return c.store.shelf.writeJSON(manifest, c.from) }
	}
	return nil
}

// exists reports whether there is a skill of that ID.
func (c *commit) exists(id string) bool {
	if scope, name, ok := strings.Cut(id, "/"); ok {
		return slices.ContainsFunc(c.store.above(), func(p parsed) bool { return string(p.Scope) == scope && p.name == name })
	}
	_, ok := c.index.entry(id)
	return ok
}

// takeAll goes through the session's copy and returns the entries that are there.
func (c *commit) takeAll(ctx context.Context) (map[string]bool, error) {
	infos, err := c.copied.ReadDir(".", maxEntries)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.isMountPoint(info) {
			continue
		}
		there[info.Name()] = true
		if err := c.take(info); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// isMountPoint reports an empty folder that a container was given the skills of
// the other scopes at.
func (c *commit) isMountPoint(info fs.FileInfo) bool {
	if !info.IsDir() || info.Name() != string(ScopeLibrary) && info.Name() != string(ScopeShared) {
		return false
	}
	inside, err := c.copied.ReadDir(info.Name(), 1)
	return err == nil && len(inside) == 0
}

// take saves one entry if it was changed and is fit to be kept.
func (c *commit) take(info fs.FileInfo) error {
	b, err := readBundle(c.copied, info)
	if err == nil {
		hash := b.hash()
		if hash == c.from[b.entry] {
			return nil
		}
		if hash == c.index.Skills[b.entry].current().Hash {
			c.from[b.entry] = hash // saved by another session alike
			return nil
		}
		err = c.save(b, Version{How: ByScript, Session: c.origin.Session, Task: c.origin.Task}, c.origin.Tools)
	}
	if err != nil {
		var unfit *Fault
		if !errors.As(err, &unfit) {
			return err
		}
		c.report.Refused = append(c.report.Refused, Refusal{c.store.guard.nameFor(info.Name()), unfit.Error()})
		return nil
	}
	c.from[b.entry] = c.index.Skills[b.entry].current().Hash
	c.report.Saved = append(c.report.Saved, trimEnding(b.entry))
	return nil
}

// removeMissing drops the skills that the session removed.
func (c *commit) removeMissing(there map[string]bool) {
	for entry, hash := range c.from {
		if there[entry] {
			continue
		}
		if c.index.Skills[entry].current().Hash == hash {
			c.remove(entry)
			c.report.Removed = append(c.report.Removed, trimEnding(entry))
		}
		delete(c.from, entry)
	}
	slices.Sort(c.report.Removed)
}

func trimEnding(entry string) string {
	return strings.TrimSuffix(strings.TrimSuffix(entry, ".js"), ".py")
}
