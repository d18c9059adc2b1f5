package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/discovery"
	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
)

// skillsOf is the user's pseudonym, with their skills as they are in all processes.
func (s *Service) skillsOf(user ident.User) (string, error) {
	key := s.opts.Pseudonym.User(user)
	return key, s.opts.Skills.Fetch(key)
}

// Skills lists what the user's tasks can use.
func (s *Service) Skills(user ident.User) ([]skills.Skill, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, err
	}
	return s.opts.Skills.List(key, s.toolPrints(servers.Caller{User: user}))
}

// SearchSkills ranks them for a text.
func (s *Service) SearchSkills(user ident.User, text pii.Raw) ([]skills.Match, error) {
	vault, err := s.Visitor()
	if err != nil {
		return nil, err
	}
	query, err := vault.Tokenize(text, pii.OriginUser)
	if err != nil {
		return nil, fmt.Errorf("tokenize the query: %w", err)
	}
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, err
	}
	return s.opts.Skills.Search(key, pii.Cut(query, matchBytes), s.toolPrints(servers.Caller{User: user}))
}

// Skill returns one skill and its text.
func (s *Service) Skill(user ident.User, name string) (skills.Skill, pii.Raw, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return skills.Skill{}, pii.Raw{}, err
	}
	return s.opts.Skills.Get(key, name, s.toolPrints(servers.Caller{User: user}))
}

// AddSkill saves an upload as the user's. What is wrong with it is a *skills.Fault.
func (s *Service) AddSkill(user ident.User, u skills.Upload) (skills.Skill, error) {
	return s.opts.Skills.Add(s.opts.Pseudonym.User(user), u, s.origin(user))
}

// DeleteSkill removes a user's skill, or a shared one.
func (s *Service) DeleteSkill(user ident.User, name string) error {
	return s.opts.Skills.Delete(s.opts.Pseudonym.User(user), name)
}

// SkillHistory lists a skill's versions.
func (s *Service) SkillHistory(user ident.User, name string) ([]skills.Version, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, err
	}
	return s.opts.Skills.History(key, name)
}

// SkillDiff compares two versions of a skill.
func (s *Service) SkillDiff(user ident.User, name string, from, to int) ([]skills.FileDiff, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, err
	}
	return s.opts.Skills.Diff(key, name, from, to)
}

// RollbackSkill saves an earlier version again.
func (s *Service) RollbackSkill(user ident.User, name string, number int) error {
	return s.opts.Skills.Rollback(s.opts.Pseudonym.User(user), name, number, s.origin(user))
}

// ReviewSkill tells what a promotion would change.
func (s *Service) ReviewSkill(user ident.User, name string) (skills.Review, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return skills.Review{}, err
	}
	return s.opts.Skills.Review(key, name)
}

// PromoteSkill moves a user's skill, as it was reviewed, to those of everybody.
func (s *Service) PromoteSkill(user ident.User, name, hash string) (skills.Skill, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return skills.Skill{}, err
	}
	return s.opts.Skills.Promote(key, name, hash, s.origin(user))
}

// ZipSkill packs a skill.
func (s *Service) ZipSkill(user ident.User, name string) (data []byte, file string, err error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, "", err
	}
	return s.opts.Skills.Zip(key, name)
}

func (s *Service) origin(user ident.User) skills.Origin {
	return skills.Origin{Tools: s.toolPrints(servers.Caller{User: user})}
}

// SkillCheck is how one of a skill's own checks ended.
type SkillCheck struct {
	Name   string
	Passed bool
	Execution
}

// ErrNoChecks is wrapped when a skill has neither an example nor a test.
var ErrNoChecks = errors.New("the skill has neither an example nor a test")

// VerifySkill runs a skill's own example and test as the user, in a session that
// ends with them, and notes the outcome. A check passes if its script ends well; a
// test's must return neither false nor null.
func (s *Service) VerifySkill(ctx context.Context, user ident.User, name string) ([]SkillCheck, error) {
	key, err := s.skillsOf(user)
	if err != nil {
		return nil, err
	}
	checks, hash, err := s.opts.Skills.Checks(key, name)
	if err != nil {
		return nil, err
	}
	if len(checks) == 0 {
		return nil, ErrNoChecks
	}
	var done []SkillCheck
	session, passed := ident.Session(""), true
	for _, c := range checks {
		out, err := s.Execute(ctx, ExecuteRequest{User: user, Session: session, Language: sandbox.Language(c.Language), Code: c.Script})
		if err != nil {
			return nil, fmt.Errorf("run the skill's %s: %w", c.Name, err)
		}
		session = out.Session
		check := SkillCheck{Name: c.Name, Passed: out.Reason == sandbox.ReasonOK, Execution: out}
		if value := out.Value.String(); c.Name == "test" && (value == "false" || value == "null") {
			check.Passed = false
		}
		passed = passed && check.Passed
		done = append(done, check)
	}
	if _, err := s.sessions.remove(user, session); err != nil {
		s.log.Warn("ending the session of a skill's checks failed", zap.Error(err))
	}
	return done, s.opts.Skills.Verified(key, name, hash, skills.Verification{At: time.Now().UTC(), Passed: passed})
}

// toolPrints tells the fingerprints of tools' schemas, as far as they are known
// without starting a server. It may be used from one goroutine at a time.
func (s *Service) toolPrints(c servers.Caller) skills.Lookup {
	if s.opts.Servers == nil {
		return nil
	}
	known := sync.OnceValue(func() map[string]servers.Tool {
		all := map[string]servers.Tool{}
		for _, t := range s.opts.Servers.KnownTools(s.ctx, c) {
			all[t.FullName()] = t
		}
		return all
	})
	return func(tool string) string {
		t, ok := known()[tool]
		if !ok {
			return ""
		}
		print, err := s.schemaPrint(t)
		if err != nil {
			s.log.Warn("a tool's schemas cannot be read, so that skills do not see them change", zap.String("tool", tool), zap.Error(err))
		}
		return print
	}
}

// schemaNonce is always the same, so that equal schemas have equal fingerprints;
// the tokens in them stand for nothing.
const schemaNonce = "aaaaa"

func (s *Service) schemaPrint(t servers.Tool) (string, error) {
	options := s.opts.Vaults
	options.Nonce = schemaNonce
	vault, err := pii.NewVault(options)
	if err != nil {
		return "", fmt.Errorf("make a vault: %w", err)
	}
	in, err := vault.Tokenize(t.InputSchema, pii.OriginServer(t.Server))
	if err != nil {
		return "", fmt.Errorf("tokenize an input schema: %w", err)
	}
	out, err := vault.Tokenize(t.OutputSchema, pii.OriginServer(t.Server))
	if err != nil {
		return "", fmt.Errorf("tokenize an output schema: %w", err)
	}
	return discovery.Fingerprint(discovery.Definition{Name: t.Name, InputSchema: []byte(in.String()), OutputSchema: []byte(out.String())}), nil
}

// soleSkill finds the argument of a script that does nothing but run one skill, in
// the two forms that package skillmatch writes.
var soleSkill = []*regexp.Regexp{
	regexp.MustCompile(`^\s*return await require\("/skills/[A-Za-z0-9_./-]+"\)\((\{.*\})\);?\s*$`),
	regexp.MustCompile(`^import json, runpy; result = runpy\.run_path\("/skills/[A-Za-z0-9_./-]+"\)\["run"\]\(json\.loads\((".*")\)\)$`),
}

// runsOneSkill reports whether a script does nothing else. Its argument must be JSON,
// so that no other call hides in it.
func runsOneSkill(code string) bool {
	for _, form := range soleSkill {
		if m := form.FindStringSubmatch(code); m != nil && json.Valid([]byte(m[1])) {
			return true
		}
	}
	return false
}

// scopeOf is what a script may call: everything that its user may, or, for one that
// only runs a skill, what the skill says that it needs.
func (s *Service) scopeOf(session *session, code string) (bridge.Scope, error) {
	loaded := skills.Loaded(code)
	if len(loaded) != 1 || !runsOneSkill(code) {
		return bridge.ScopeAll, nil
	}
	skill, _, err := s.opts.Skills.Get(session.key, loaded[0], nil)
	if errors.Is(err, skills.ErrUnknown) {
		return bridge.ScopeAll, nil
	}
	if err != nil {
		return "", err
	}
	var patterns []string
	for _, p := range skill.AllowedTools {
		if strings.Contains(p, "__") { // others are tools of other agents
			patterns = append(patterns, p)
		}
	}
	if len(patterns) == 0 {
		return bridge.ScopeAll, nil
	}
	return bridge.ScopeOf(patterns...)
}
