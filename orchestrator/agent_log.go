package orchestrator

import (
	"context"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

// say adds a message to the conversation, and to what another process would go on
// from.
func (a *agent) say(m llm.Message) {
	a.messages = append(a.messages, m)
	a.task.events.say(m)
	if p := a.task.past; p != nil { // what it began belongs to an earlier turn now
		clear(p.began)
		clear(p.results)
	}
}

// resumed is the conversation of a task that an earlier process began.
func (a *agent) resumed(history, said []llm.Message) []llm.Message {
	if a.task.session.said == a.task.task.ID {
		return history // which was kept when the task was as good as done
	}
	return append(history, said...)
}

// first is where the work begins: with the model, unless it has spoken last.
func (a *agent) first() phase {
	if a.task.conversation() == nil {
		return phaseAsk
	}
	last := a.messages[len(a.messages)-1]
	if last.Role != llm.Assistant {
		return phaseAsk
	}
	a.calls, a.answer = openCalls(last)
	if len(a.calls) > 0 {
		return phaseAct
	}
	return phaseDone
}

// openCalls are the calls in a message of the model, and what it said with them.
func openCalls(m llm.Message) (calls []llm.Call, said pii.Tokenized) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			said = p.Text
		case llm.ToolUse:
			calls = append(calls, llm.Call{ID: p.ID, Name: p.Name, Arguments: p.Arguments.String()})
		}
	}
	return calls, said
}

// callOnce does a call of the latest turn, unless an earlier process has begun it.
func (a *agent) callOnce(ctx context.Context, number int, call llm.Call) (pii.Tokenized, bool, error) {
	if p := a.task.past; p != nil {
		if r, ok := p.results[number]; ok {
			return r.Content, r.Failed, nil
		}
		if p.began[number] {
			return interruptedNote, true, nil
		}
	}
	if call.Name == toolExecute {
		if err := a.task.events.begin(number); err != nil {
			return noText, false, err
		}
	}
	content, failed, err := a.callTool(ctx, call)
	if err == nil {
		a.task.events.result(number, content, failed, a.task.snapshot())
	}
	return content, failed, err
}
