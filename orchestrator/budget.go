package orchestrator

import (
	"airlock/orchestrator/llm"
	"airlock/pii"
)

// lastTurnNote asks for the answer while there is still a turn for it.
var lastTurnNote = pii.Static("[This is your last turn: the task's budget ends here. Call no more tools. Answer with what you have, and say what is missing.]")

// usedUp is the error of the first budget that the task has used up, nil if it may
// ask its model once more. What a turn uses is known when it has ended, so the last
// one may go beyond.
func (a *agent) usedUp() error {
	used, limits := a.task.snapshot().Usage, a.opts.Limits
	switch {
	case used.Turns >= a.task.request.MaxTurns:
		return errTurns
	case used.InputTokens+used.OutputTokens >= limits.Tokens:
		return errTokens
	case limits.CostUSD > 0 && used.CostUSD >= limits.CostUSD:
		return errCost
	default:
		return nil
	}
}

// lastTurn reports whether the budgets leave one turn and no more, if that needs as
// much as the latest.
func (a *agent) lastTurn() bool {
	used, limits := a.task.snapshot().Usage, a.opts.Limits
	return used.Turns+1 == a.task.request.MaxTurns ||
		used.InputTokens+used.OutputTokens+2*(a.latest.InputTokens+a.latest.OutputTokens) > limits.Tokens ||
		limits.CostUSD > 0 && used.CostUSD+2*a.opts.costOf(a.model, a.latest) > limits.CostUSD
}

// spend counts what an attempt at a turn has used, also one that broke off.
func (a *agent) spend(u llm.Usage) {
	a.latest = u
	cost := a.opts.costOf(a.model, u)
	a.task.change(func(task *Task) {
		task.Usage.Model = a.model
		task.Usage.InputTokens += u.InputTokens
		task.Usage.OutputTokens += u.OutputTokens
		task.Usage.CachedTokens += u.CachedTokens
		task.Usage.CostUSD += cost
	})
}

// callsLeft is how often the task's scripts may still call tools.
func (a *agent) callsLeft() int {
	return max(a.opts.Limits.ToolCalls-a.task.snapshot().Usage.ToolCalls, 0)
}

// watch passes events of scripts on, and counts the calls of tools among them.
func (a *agent) watch(kind EventType, data EventData) {
	if kind == EventToolCalled {
		a.task.change(func(task *Task) { task.Usage.ToolCalls++ })
	}
	a.task.emit(kind, data)
}
