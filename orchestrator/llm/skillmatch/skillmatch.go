// Package skillmatch answers tasks without asking any model: it runs the skill
// that fits best, and says so plainly when none does. It is what airlock uses
// until a model is configured, and it never invents anything.
//
// A turn goes one of two ways. After the user's text it chooses from
// Request.Skills and yields a Call of execute_code, whose script requires the
// skill and passes it what could be read from the task:
//
//	return await require("/skills/library/top-customers/main.js")({"limit":5,"task":"Who are our top 5 customers?"})
//
// or, in Python, loads it by runpy and calls its function run. The input is what the
// task tells of the skill's inputs, and always "task".
//
// After the result of that call it answers with the result's field "report", or
// with the result itself in a compact form, or with what went wrong. If the agent
// had to cut the result, a second call reads the report from where it was kept.
//
// # Choosing
//
// A skill is run if its confidence reaches Options.Threshold, exceeds the next one's
// by Options.Margin, and the task tells every input that it requires. The threshold
// is 0.6 because of what confidences are made of (package skills): one word that
// says what the skill is for gives 0.65, so that a task which names it and asks for
// nothing else is above, and a task of which a third is about something else is
// below, whatever it names.
//
// A task that spells exactly one skill's name out, such as "run top-customers", gets
// that skill whatever the numbers say; only names of several words count, as single
// ones are words of every day. Otherwise nothing is run: the answer tells what was
// found, how well it fits, what is missing, and how to set a model.
//
// # With a model
//
// First puts skillmatch before a model: a task that a skill fits is answered by it,
// and the model is asked where none does or the skill failed.
package skillmatch

import (
	"context"
	"fmt"
	"iter"

	"airlock/orchestrator/llm"
)

// Options say when a skill fits. A zero field takes its default.
type Options struct {
	// Threshold is the confidence from which a skill is run; 0 means 0.6, from which
	// package skills says that one may be run unasked.
	Threshold float64
	// Margin is by how much the best must exceed the second; 0 means 0.05.
	Margin float64
}

const (
	defaultThreshold = 0.6
	defaultMargin    = 0.05
)

// Provider chooses skills. It keeps no state and may be used concurrently.
type Provider struct {
	threshold, margin float64
}

var _ llm.Provider = (*Provider)(nil)

// New checks o.
func New(o Options) (*Provider, error) {
	p := &Provider{threshold: o.Threshold, margin: o.Margin}
	if p.threshold == 0 {
		p.threshold = defaultThreshold
	}
	if p.margin == 0 {
		p.margin = defaultMargin
	}
	if !share(p.threshold) || !share(p.margin) {
		return nil, fmt.Errorf("skill threshold %v and margin %v: both must be between 0 and 1", o.Threshold, o.Margin)
	}
	return p, nil
}

func share(x float64) bool { return x > 0 && x <= 1 }

// Stream answers one turn, see the package's comment. It uses no tokens.
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		event, stop := p.turn(r)
		for _, e := range []llm.Event{event, llm.Usage{}, llm.Stop{Reason: stop}} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// turn decides what to say or to run.
func (p *Provider) turn(r llm.Request) (llm.Event, llm.StopReason) {
	if result, ok := lastResult(r.Messages); ok {
		if call, cut := rereadCall(r.Messages, result); cut {
			return call, llm.StopTools
		}
		text, stop := answer(nameOf(r.Skills, ranPath(r.Messages)), result)
		return llm.TextDelta{Text: text}, stop
	}
	task := taskText(r.Messages)
	chosen, refusal := p.choose(task, r.Skills)
	if refusal != "" {
		return llm.TextDelta{Text: refusal}, llm.StopEnd
	}
	call, err := callOf(chosen, task, len(r.Messages))
	if err != nil {
		return llm.TextDelta{Text: "The parameters for " + chosen.Name.String() + " cannot be passed on, so it was not run: " + err.Error()}, llm.StopEnd
	}
	return call, llm.StopTools
}
