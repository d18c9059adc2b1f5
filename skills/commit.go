package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"airlock/ident"
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
	store   *Store
	userKey string
	session ident.Session
	copied  *rooted.Dir
	from    base
	index   index
	report  Report
	dropped []string // folders to delete once the index is written
}

// Commit takes over what a session has changed in its copy since it was checked
// out: new and changed skills that are fit to be kept, and removals. Each skill is
// taken whole or refused. Where another session has changed the same skill since,
// the one committed last stays; a skill that another has changed is not removed.
func (s *Store) Commit(ctx context.Context, userKey string, session ident.Session) (Report, error) {
	if err := checkKeys(userKey, string(session)); err != nil {
		return Report{}, fmt.Errorf("commit skills: %w", err)
	}
	defer s.lock(userKey)()
	copied, err := s.users.Sub(checkoutName(userKey, session))
	if err != nil {
		return Report{}, fmt.Errorf("commit skills: check out first: %w", err)
	}
	defer copied.Close()
	c := &commit{store: s, userKey: userKey, session: session, copied: copied, from: base{}}
	if err := c.run(ctx); err != nil {
		return Report{}, fmt.Errorf("commit skills: %w", err)
	}
	return c.report, nil
}

func (c *commit) run(ctx context.Context) (err error) {
	if c.index, err = c.store.readIndex(c.userKey); err != nil {
		return err
	}
	manifest := checkoutName(c.userKey, c.session) + ".json"
	if err := c.store.readJSON(manifest, &c.from); err != nil {
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
	if len(c.report.Saved)+len(c.report.Removed) > 0 {
		if err := c.store.writeJSON(c.userKey+"/index.json", c.index); err != nil {
			return err
		}
	}
	if !maps.Equal(c.from, before) {
		if err := c.store.writeJSON(manifest, c.from); err != nil {
			return err
		}
	}
	return c.prune()
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
		err = c.check(b)
	}
	if err != nil {
		var unfit *Fault
		if !errors.As(err, &unfit) {
			return err
		}
		c.report.Refused = append(c.report.Refused, Refusal{c.store.guard.nameFor(info.Name()), unfit.Error()})
		return nil
	}
	return c.save(b)
}

// check says why a bundle must not be kept.
func (c *commit) check(b bundle) error {
	p, err := parse(b, ScopeUser)
	if err != nil {
		return err
	}
	if err := c.checkName(p); err != nil {
		return err
	}
	if err := c.store.parsers.check(b); err != nil {
		return err
	}
	return c.store.guard.check(b)
}

// checkName refuses names that would hide another skill.
func (c *commit) checkName(p parsed) error {
	if strings.EqualFold(p.name, string(ScopeLibrary)) || strings.EqualFold(p.name, string(ScopeShared)) {
		return fault("", 0, "the names library and shared are reserved; use another")
	}
	for _, other := range c.index.entries() {
		if other != p.bundle.entry && strings.EqualFold(trimEnding(other), p.name) {
			return fault("", 0, "another of the user's skills has that name; use another, or remove that one")
		}
	}
	all := slices.Clone(c.store.library)
	if c.store.shared != nil {
		shared, _ := load(c.store.shared, ScopeShared)
		all = append(all, shared...)
	}
	if slices.ContainsFunc(all, func(o parsed) bool { return strings.EqualFold(o.name, p.name) }) {
		return fault("", 0, "a skill of the library or a shared one has that name; use another")
	}
	if _, known := c.index.Skills[p.bundle.entry]; !known && len(c.index.Skills) >= c.store.maxSkills {
		return fault("", 0, fmt.Sprintf("a user may keep %d skills; remove one", c.store.maxSkills))
	}
	return nil
}

// save writes a new version. It counts once the index is written.
func (c *commit) save(b bundle) error {
	h := c.index.Skills[b.entry]
	v := version{Number: h.current().Number + 1, Hash: b.hash(), At: time.Now().UTC(), Session: c.session}
	name := versionDir(c.userKey, b.entry, v.Number)
	// A process that died may have left a part of it.
	if err := c.store.users.RemoveAll(name); err != nil {
		return err
	}
	if _, err := c.store.users.MakeDirs(name, always); err != nil {
		return err
	}
	dir, err := c.store.users.Sub(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := b.write(dir); err != nil {
		return err
	}
	h = append(h, v)
	for ; len(h) > keepVersions; h = h[1:] {
		c.dropped = append(c.dropped, versionDir(c.userKey, b.entry, h[0].Number))
	}
	c.index.Skills[b.entry] = h
	c.from[b.entry] = v.Hash
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
			delete(c.index.Skills, entry)
			c.dropped = append(c.dropped, path.Join(c.userKey, "versions", entry))
			c.report.Removed = append(c.report.Removed, trimEnding(entry))
		}
		delete(c.from, entry)
	}
	slices.Sort(c.report.Removed)
}

// prune deletes the files of what the index names no longer, once it is written.
func (c *commit) prune() error {
	var errs []error
	for _, name := range c.dropped {
		errs = append(errs, c.store.users.RemoveAll(name))
	}
	return errors.Join(errs...)
}

func trimEnding(entry string) string {
	return strings.TrimSuffix(strings.TrimSuffix(entry, ".js"), ".py")
}
