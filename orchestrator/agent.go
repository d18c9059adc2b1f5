package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

const (
	// matchBytes is how much of a task is looked at to find skills for it: what is
	// wanted stands at its beginning, and matching costs time per word.
	matchBytes = 4 << 10
)

// phase is what the agent does next.
type phase int

const (
	phaseAsk phase = iota
	phaseAct
	phaseDone
)

// agent works on one task. It belongs to the task's goroutine.
type agent struct {
	*Service
	task  *taskState
	vault *pii.Vault

	system   pii.Tokenized
	skills   []llm.Skill
	messages []llm.Message // the conversation, this task's part included
	calls    []llm.Call    // what the last turn wants done
	answer   pii.Tokenized
	failures map[string]int // of scripts and tools, by what they say
	ending   error          // why the next turn is the last, if it is
	learned  pii.Tokenized  // the failure that ends the task
	model    string         // that is asked; empty leaves it to the provider
	room     int            // for the conversation in the model, in bytes
	whole    int            // of the latest messages stay whole when there is no room
	latest   llm.Usage      // of the turn before
}

// runAgent works on the task until the model has nothing more to do. The answer
// so far comes back with an error too.
func (s *Service) runAgent(ctx context.Context, t *taskState) (pii.Tokenized, error) {
	a := &agent{
		Service: s, task: t, vault: t.session.vault, failures: map[string]int{}, model: t.request.Model,
		room: s.opts.Limits.ContextTokens * bytesPerToken, whole: keptWhole,
	}
	if err := a.begin(); err != nil {
		return noText, err
	}
	var err error
	for next := a.first(); next != phaseDone && err == nil; {
		switch next {
		case phaseAsk:
			next, err = a.ask(ctx)
		case phaseAct:
			next, err = a.act(ctx)
		}
	}
	if err != nil {
		return a.answer, err
	}
	t.session.history, t.session.said = a.messages, t.task.ID
	return a.answer, s.kept.history(ctx, t.session, t.task.ID, a.messages)
}

// begin puts the task into words for the model.
func (a *agent) begin() error {
	text, err := a.vault.Tokenize(a.task.request.Text, pii.OriginUser)
	if err != nil {
		return fmt.Errorf("tokenize the task: %w", err)
	}
	a.task.change(func(task *Task) { task.Text = text })
	history, err := a.history()
	if err != nil {
		return err
	}
	said := a.task.conversation()
	var note pii.Tokenized
	if said == nil { // the files of a task that goes on are there, maybe changed
		if note, err = a.takeUploads(); err != nil {
			return err
		}
	}
	a.task.forgetInput()
	if a.skills, err = a.matchSkills(a.task.session, text); err != nil {
		return err
	}
	if a.system, err = systemPrompt(a.Service, a.vault, a.skills); err != nil {
		return err
	}
	if said != nil {
		a.messages = a.resumed(history, said)
		return nil
	}
	parts := []llm.Part{llm.Text{Text: text}}
	if note != noText { // apart from the task, which stays what skills are chosen by
		parts = append([]llm.Part{llm.Text{Text: note}}, parts...)
	}
	a.messages = history
	a.say(llm.Message{Role: llm.User, Parts: parts})
	return nil
}

// history is what was said before: in the session, or as the request tells it.
func (a *agent) history() ([]llm.Message, error) {
	messages := append([]llm.Message(nil), a.task.session.history...)
	if a.task.request.Session != "" {
		return messages, nil
	}
	for _, said := range a.task.request.History {
		text, err := a.vault.Tokenize(said.Text, pii.OriginUser)
		if err != nil {
			return nil, fmt.Errorf("tokenize what was said before: %w", err)
		}
		role := llm.User
		if said.ByAgent {
			role = llm.Assistant
		}
		messages = append(messages, llm.Message{Role: role, Parts: []llm.Part{llm.Text{Text: text}}})
	}
	return messages, nil
}

// ask lets the model answer one turn.
func (a *agent) ask(ctx context.Context) (phase, error) {
	if err := a.usedUp(); err != nil {
		return phaseDone, a.endFor(err)
	}
	a.compact()
	turn, err := a.insist(ctx)
	if err != nil {
		return phaseDone, a.endFor(err)
	}
	return a.take(turn)
}

// insist asks for one turn: with less of the conversation where the model has no room
// for all of it, and the fallback model where the task's own is not to be had.
func (a *agent) insist(ctx context.Context) (*turn, error) {
	a.avoid()
	for refused := 0; ; {
		turn, err := a.persist(ctx)
		switch {
		case err == nil:
			a.resting.answer(a.model)
			return turn, nil
		case errors.Is(err, llm.ErrTooLong) && a.shorten(refused):
			refused++
		case a.fallBack(err):
		default:
			return nil, err
		}
	}
}

// endFor is the error to end with when no turn could be had, for err: in a task that
// ends anyway it is the task's own.
func (a *agent) endFor(err error) error {
	if a.ending == nil {
		return err
	}
	return a.conclude(false)
}

// turn is one complete answer of the model.
type turn struct {
	text   strings.Builder
	blocks []llm.Part // reasoning, to be sent back
	calls  []llm.Call
	usage  llm.Usage
	stop   llm.StopReason
}

// turn asks once. With an error it is what there was of the answer.
func (a *agent) turn(ctx context.Context) (*turn, error) {
	t := &turn{}
	request := llm.Request{
		Model: a.model, System: a.system, Messages: a.messages, Tools: modelTools(), Skills: a.skills,
	}
	for event, err := range a.opts.Provider.Stream(ctx, request) {
		if err != nil {
			a.endText(t, PartDiscarded)
			return t, err
		}
		switch e := event.(type) {
		case llm.TextDelta:
			t.text.WriteString(e.Text)
			a.task.emit(EventModelDelta, EventData{Text: a.vault.FromModel(e.Text)})
		case llm.Reasoning:
			t.blocks = append(t.blocks, e.Block)
		case llm.Call:
			t.calls = append(t.calls, e)
		case llm.Usage:
			t.usage = e
		case llm.Stop:
			t.stop = e.Reason
		}
	}
	if t.stop == "" {
		a.endText(t, PartDiscarded)
		return t, llm.ErrTruncated
	}
	a.endText(t, PartLast)
	return t, nil
}

// endText tells those who follow the turn's text that it ends here.
func (a *agent) endText(t *turn, how Part) {
	if t.text.Len() > 0 {
		a.task.emit(EventModelDelta, EventData{Part: how})
	}
}

func (a *agent) observeTurn(t *turn, err error, took time.Duration) {
	if err != nil {
		a.opts.Observer.TurnEnded("error", 0, 0, 0, took)
		return
	}
	a.opts.Observer.TurnEnded("ok", t.usage.InputTokens, t.usage.OutputTokens, t.usage.CachedTokens, took)
}

// take adds a turn to the conversation and decides what follows from it.
func (a *agent) take(t *turn) (phase, error) {
	a.task.change(func(task *Task) { task.Usage.Turns++ })
	message := llm.Message{Role: llm.Assistant, Parts: t.blocks}
	if t.text.Len() > 0 {
		a.answer = a.vault.FromModel(t.text.String())
		message.Parts = append(message.Parts, llm.Text{Text: a.answer})
	}
	if a.ending != nil {
		return phaseDone, a.conclude(t.text.Len() > 0)
	}
	for _, c := range t.calls {
		message.Parts = append(message.Parts, llm.ToolUse{ID: c.ID, Name: c.Name, Arguments: a.vault.FromModel(c.Arguments)})
	}
	if len(message.Parts) > 0 {
		a.say(message)
	}
	if a.calls = t.calls; len(a.calls) > 0 {
		return phaseAct, nil
	}
	switch t.stop {
	case llm.StopRefusal:
		return phaseDone, errRefused
	case llm.StopLength:
		return phaseDone, errLength
	case llm.StopFailed:
		return phaseDone, errFailed
	default:
		return phaseDone, nil
	}
}

// act does what the model asked for, in its order, and tells it the results.
func (a *agent) act(ctx context.Context) (phase, error) {
	results := llm.Message{Role: llm.User}
	for i, call := range a.calls {
		content, failed, err := a.callOnce(ctx, i, call)
		if err != nil {
			return phaseDone, err
		}
		results.Parts = append(results.Parts, llm.ToolResult{ID: call.ID, Content: content, IsError: failed})
	}
	switch {
	case a.ending != nil:
		results.Parts = append(results.Parts, llm.Text{Text: stuckNote})
	case a.lastTurn():
		results.Parts = append(results.Parts, llm.Text{Text: lastTurnNote})
	}
	a.say(results)
	return phaseAsk, nil
}
