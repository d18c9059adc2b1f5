package skillmatch

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"airlock/orchestrator/llm"
)

// nearest is how many skills an answer names when none is run.
const nearest = 3

// choose returns the skill to run, or else why none is.
func (p *Provider) choose(task string, offered []llm.Skill) (llm.Skill, string) {
	skills := runnable(offered)
	if len(skills) == 0 {
		return llm.Skill{}, "No skill is installed that could do this task, so nothing was run.\n\n" + howToSetModel
	}
	if named := spelledOut(task, skills); len(named) == 1 {
		return named[0], ""
	}
	best := skills[0]
	if best.Confidence < p.threshold {
		return llm.Skill{}, noneFits(skills)
	}
	if len(skills) > 1 && best.Confidence-skills[1].Confidence < p.margin {
		return llm.Skill{}, tied(skills, best.Confidence-p.margin)
	}
	return best, ""
}

// runnable are the skills that a script can require, best first. The order among
// equals stays.
func runnable(offered []llm.Skill) []llm.Skill {
	skills := slices.DeleteFunc(slices.Clone(offered), func(s llm.Skill) bool {
		ext := path.Ext(s.Path)
		return ext != ".js" && ext != ".cjs"
	})
	slices.SortStableFunc(skills, func(a, b llm.Skill) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return skills
}

// spelledOut are the skills whose names, of several words, stand in the task.
func spelledOut(task string, skills []llm.Skill) []llm.Skill {
	task = strings.ToLower(task)
	var named []llm.Skill
	for _, s := range skills {
		name := strings.ToLower(s.Name.String())
		if strings.ContainsAny(name, "-_") && containsWord(task, name) {
			named = append(named, s)
		}
	}
	return named
}

// containsWord reports whether name stands in text by itself, not within a
// longer name.
func containsWord(text, name string) bool {
	for rest := text; ; {
		before, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !ofName(last) && !ofName(next) {
			return true
		}
		rest = after
	}
}

func ofName(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

const howToSetModel = "To have a model work on tasks that no skill fits, set ANTHROPIC_API_KEY, OPENAI_API_KEY or LLM_BASE_URL and restart airlock."

func noneFits(skills []llm.Skill) string {
	return "No skill fits this task, so nothing was run. The nearest are:\n\n" +
		listed(skills[:min(nearest, len(skills))]) +
		"\nTo run one, name it in the task. " + howToSetModel
}

// tied names the skills down to the confidence floor.
func tied(skills []llm.Skill, floor float64) string {
	n := slices.IndexFunc(skills, func(s llm.Skill) bool { return s.Confidence <= floor })
	if n < 0 {
		n = len(skills)
	}
	return "Several skills fit this task about equally well, so none was run:\n\n" +
		listed(skills[:n]) +
		"\nTo run one, name it in the task. " + howToSetModel
}

// listed has one line for each skill.
func listed(skills []llm.Skill) string {
	var b strings.Builder
	for _, s := range skills {
		description, _, _ := strings.Cut(s.Description.String(), "\n")
		fmt.Fprintf(&b, "- %s (fits %.0f %%): %s\n", s.Name, s.Confidence*100, description)
	}
	return b.String()
}
