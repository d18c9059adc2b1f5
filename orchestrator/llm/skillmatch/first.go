package skillmatch

import (
	"context"
	"iter"
	"strings"

	"airlock/orchestrator/llm"
)

// First answers the tasks that a skill fits by the skill, and leaves the others, and
// those whose skill failed, to model, which is told what was run and how it ended.
func First(p *Provider, model llm.Provider) llm.Provider { return first{p, model} }

type first struct {
	skills *Provider
	model  llm.Provider
}

// Stream asks one of the two.
func (f first) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	if f.fits(r) {
		return f.skills.Stream(ctx, r)
	}
	return f.model.Stream(ctx, r)
}

// fits reports whether a skill can give this turn.
func (f first) fits(r llm.Request) bool {
	result, ran := lastResult(r.Messages)
	if !ran {
		_, refusal := f.skills.choose(taskText(r.Messages), r.Skills)
		return refusal == ""
	}
	if !strings.HasPrefix(result.ID, callPrefix) {
		return false // the model's own
	}
	if _, cut := rereadCall(r.Messages, result); cut {
		return true
	}
	_, stop := answer("", result)
	return stop != llm.StopFailed
}
