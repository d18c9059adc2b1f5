package orchestrator

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"airlock/orchestrator/llm"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
)

const (
	// promptSkillThirds bounds all that the prompt says of skills, in thirds of a
	// token: 400 tokens.
	promptSkillThirds = 1200
	// promptDescriptionBytes bounds one description of them.
	promptDescriptionBytes = 100
)

// promptSkillsHead stands before the lines of the skills.
const promptSkillsHead = `# Skills that may fit, by what they say of themselves
Call: JavaScript await require(path)(input), Python runpy.run_path(path)["run"](input). Read the file, and SKILL.md beside it, before you rely on one.
`

// matchSkills finds the skills that may fit the task and that can run here, best
// first.
func (s *Service) matchSkills(session *session, task pii.Tokenized) ([]llm.Skill, error) {
	tools := s.toolPrints(servers.Caller{User: session.user, Session: session.id})
	matches, err := s.opts.Skills.Match(session.key, session.id, pii.Cut(task, matchBytes), tools)
	if err != nil {
		return nil, fmt.Errorf("look for skills: %w", err)
	}
	languages := s.Languages()
	var fitting []llm.Skill
	for _, m := range matches {
		if m.Language != "" && !slices.Contains(languages, sandbox.Language(m.Language)) {
			continue
		}
		skill, err := tokenizeSkill(session.vault, m)
		if err != nil {
			return nil, fmt.Errorf("tokenize a skill: %w", err)
		}
		fitting = append(fitting, skill)
	}
	return fitting, nil
}

func tokenizeSkill(v *pii.Vault, m skills.Match) (skill llm.Skill, err error) {
	text := func(r pii.Raw) pii.Tokenized {
		t, failed := v.Tokenize(r, pii.OriginUser)
		if err == nil {
			err = failed
		}
		return t
	}
	skill = llm.Skill{
		Path: m.Path, Name: text(m.Name), Description: text(m.Description), Language: m.Language, Confidence: m.Confidence,
		Input: text(pii.NewRaw(string(m.Input))), Missing: m.Missing, UserMade: m.Scope == skills.ScopeUser, Stale: len(m.Stale) > 0,
	}
	return skill, err
}

// skillLines tells the skills by one line each, the best first, as many as fit.
func skillLines(v *pii.Vault, offered []llm.Skill) (pii.Tokenized, error) {
	if len(offered) == 0 {
		return noText, nil
	}
	parts, left := []pii.Tokenized{pii.Static(promptSkillsHead)}, promptSkillThirds-thirds(promptSkillsHead)-thirds(moreSkills)
	for _, k := range offered {
		path, err := v.Tokenize(pii.NewRaw(k.Path), pii.OriginUser)
		if err != nil {
			return noText, fmt.Errorf("tokenize a skill's path for the prompt: %w", err)
		}
		line := pii.Join(pii.Static("- "), path, mark(k), pii.Static(": "), pii.Cut(pii.OneLine(k.Description), promptDescriptionBytes), pii.Static("\n"))
		if left -= thirds(line.String()); left < 0 {
			return pii.Join(append(parts, pii.Static(moreSkills))...), nil
		}
		parts = append(parts, line)
	}
	return pii.Join(parts...), nil
}

// thirds is at least how many thirds of a token a text takes: letters and digits
// come three and more to a token, other signs of ASCII in pairs and more often than
// not, and what is beyond ASCII can take a token by itself.
func thirds(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case r >= utf8.RuneSelf:
			n += 3
		case r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		default:
			n += 2
		}
	}
	return n
}

// moreSkills ends a list that does not hold all.
const moreSkills = "- more: list /skills, /skills/library and /skills/shared\n"

// mark tells the skills apart that nobody but a script or the user has looked at.
func mark(k llm.Skill) pii.Tokenized {
	switch {
	case k.UserMade && k.Stale:
		return pii.Static(" (user-made; its tools have changed since)")
	case k.UserMade:
		return pii.Static(" (user-made)")
	case k.Stale:
		return pii.Static(" (its tools have changed since)")
	}
	return noText
}
