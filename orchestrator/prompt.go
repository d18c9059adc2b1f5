package orchestrator

import (
	"fmt"
	"strings"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

// systemPrompt tells a model how to work here. Its length does not depend on how
// many tools there are: they are found by asking.
func systemPrompt(s *Service, v *pii.Vault, skills []llm.Skill) (pii.Tokenized, error) {
	limits, err := v.Tokenize(pii.NewRaw(limitsLine(s)), pii.OriginScript)
	if err != nil {
		return noText, fmt.Errorf("tokenize the limits for the prompt: %w", err)
	}
	parts := []pii.Tokenized{pii.Static(promptV1), limits}
	lines, err := skillLines(v, skills)
	if err != nil {
		return noText, err
	}
	return pii.Join(append(parts, lines)...), nil
}

func limitsLine(s *Service) string {
	var languages []string
	for _, b := range s.opts.Backends {
		for _, l := range b.Languages() {
			languages = append(languages, string(l))
		}
	}
	l := s.opts.Limits
	return fmt.Sprintf("Languages here: %s. A script may run %d s and hold %d MB; of what it returns and prints you see %d KB.\n",
		strings.Join(languages, ", "), int(l.Execution.Wall.Seconds()), l.Execution.MemoryBytes>>20, l.ModelBytes>>10)
}
