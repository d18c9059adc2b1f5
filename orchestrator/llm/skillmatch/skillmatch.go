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
// After the result of that call it answers with the result's field "report", or
// with the result itself in a compact form, or with what went wrong. If the agent
// had to cut the result, a second call reads the report from where it was kept.
//
// # Choosing
//
// A skill is run if its confidence reaches Options.Threshold and exceeds the next
// one's by Options.Margin. A task that spells exactly one skill's name out, such
// as "run top-customers", gets that skill whatever the numbers say; only names of
// several words count, as single ones are words of every day. Otherwise nothing
// is run: the answer names the nearest skills and how to set a model.
//
// # Input
//
// A skill's input has always "task". Parameters, as far as the task tells them:
//
//	from, to  the period, ISO dates, both inclusive; either may be missing
//	year      if the period is one calendar year
//	period    the words that told the period: "last month", "Q1 2024"
//	by        the grouping: day, week, month, quarter, year, or another dimension
//	limit     the number of "top 5", "10 largest", "limit to 20"
//	names     what stands in quotes, in order
//
// Equal requests get equal answers, apart from periods such as "last month",
// which follow Options.Now.
package skillmatch

import (
	"context"
	"fmt"
	"iter"
	"time"

	"airlock/orchestrator/llm"
)

// Options say when a skill fits. A zero field takes its default.
type Options struct {
	// Threshold is the confidence from which a skill is run; 0 means 0.6, from which
	// package skills says that one may be run unasked.
	Threshold float64
	// Margin is by how much the best must exceed the second; 0 means 0.05.
	Margin float64
	// Extract reads a skill's parameters from a task's text; nil means Parameters.
	Extract func(task string, now time.Time) map[string]any
	// Now tells the day that "last month" is counted from; nil means time.Now.
	Now func() time.Time
}

const (
	defaultThreshold = 0.6
	defaultMargin    = 0.05
)

// Provider chooses skills. It keeps no state and may be used concurrently.
type Provider struct {
	threshold, margin float64
	extract           func(task string, now time.Time) map[string]any
	now               func() time.Time
}

var _ llm.Provider = (*Provider)(nil)

// New checks o.
func New(o Options) (*Provider, error) {
	p := &Provider{threshold: o.Threshold, margin: o.Margin, extract: o.Extract, now: o.Now}
	if p.threshold == 0 {
		p.threshold = defaultThreshold
	}
	if p.margin == 0 {
		p.margin = defaultMargin
	}
	if p.extract == nil {
		p.extract = Parameters
	}
	if p.now == nil {
		p.now = time.Now
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
	input := p.extract(task, p.now())
	call, err := callOf(chosen.Path, task, input, len(r.Messages))
	if err != nil {
		return llm.TextDelta{Text: "The parameters for " + chosen.Name.String() + " cannot be passed on, so it was not run: " + err.Error()}, llm.StopEnd
	}
	return call, llm.StopTools
}
