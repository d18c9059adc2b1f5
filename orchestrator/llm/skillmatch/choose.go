package skillmatch

import (
	"cmp"
	"fmt"
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
	best := skills[0]
	if named := spelledOut(task, skills); len(named) == 1 {
		best = named[0]
	} else if best.Confidence < p.threshold {
		return llm.Skill{}, p.noneFits(skills)
	} else if len(skills) > 1 && best.Confidence-skills[1].Confidence < p.margin {
		return llm.Skill{}, tied(skills, best.Confidence-p.margin)
	}
	if len(best.Missing) > 0 {
		return llm.Skill{}, lacks(best)
	}
	return best, ""
}

// runnable are the skills that have code, best first. The order among equals stays.
func runnable(offered []llm.Skill) []llm.Skill {
	skills := slices.DeleteFunc(slices.Clone(offered), func(s llm.Skill) bool { return s.Language == "" })
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

func (p *Provider) noneFits(skills []llm.Skill) string {
	near := slices.DeleteFunc(slices.Clone(skills[:min(nearest, len(skills))]), func(s llm.Skill) bool { return s.Confidence < farOff })
	if len(near) == 0 {
		return "No skill has to do with this task, so nothing was run. " + howToSetModel
	}
	return fmt.Sprintf("No skill fits this task, so nothing was run; one is from %.0f %% on. The nearest are:\n\n", p.threshold*100) +
		listed(near) + "\nTo run one, name it in the task. " + howToSetModel
}

// farOff is the confidence below which naming a skill tells nothing.
const farOff = 0.05

// lacks says what a skill that fits would need.
func lacks(k llm.Skill) string {
	return fmt.Sprintf("The skill %s fits this task, but the task does not tell what it needs: %s. So nothing was run.\n\n"+
		"Tell it, a file by its name and other texts in quotes. %s", k.Name, strings.Join(k.Missing, ", "), howToSetModel)
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
		note := ""
		if s.Stale {
			note = ", but its tools have changed since it was saved"
		}
		fmt.Fprintf(&b, "- %s (fits %.0f %%%s): %s\n", s.Name, s.Confidence*100, note, description)
	}
	return b.String()
}
