package orchestrator

import (
	"errors"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

var noText pii.Tokenized

// problemOf puts an error that ended a task into words for its user. An unknown
// error is told in general terms: its own text may hold what the user's data said.
func problemOf(err error) *Problem {
	var provider *llm.Error
	switch {
	case errors.Is(err, llm.ErrTooLong):
		return &Problem{"context_length", "the conversation is longer than the model takes in, also when it was shortened", "start a new session, put data into a file, or use a model that takes in more"}
	case errors.As(err, &provider):
		return &Problem{Code: "model_failed", Message: provider.Error(), Hint: provider.Hint}
	case errors.Is(err, llm.ErrTruncated):
		return &Problem{"model_failed", "the model's answer broke off, also when asked again", "try again later, or use another model"}
	case errors.Is(err, errUpload):
		return &Problem{"upload_failed", "a file that came with the task cannot be kept in its workspace", "use plain names such as data/sales.csv, and send less data"}
	case errors.Is(err, errUnkept):
		return &Problem{"store_failed", "airlock could not keep what the task did", "look at the server's log; its disk may be full"}
	case errors.Is(err, errTurns):
		return &Problem{"turn_limit", "the task used all its turns without an answer", "ask for less at once, or raise maxTurns"}
	case errors.Is(err, errTokens):
		return &Problem{"token_limit", "the task used all its tokens without an answer", "ask for less at once, or raise TASK_MAX_TOKENS"}
	case errors.Is(err, errCalls):
		return &Problem{"tool_call_limit", "the task used all its calls of tools without an answer", "ask for less at once, or raise TASK_MAX_TOOL_CALLS"}
	case errors.Is(err, errCost):
		return &Problem{"cost_limit", "the task cost all it may without an answer", "ask for less at once, use a cheaper model, or raise TASK_MAX_COST_USD"}
	case errors.Is(err, errTime):
		return &Problem{"task_timeout", "the task ran out of time", "ask for less at once, or raise timeoutMs"}
	case errors.Is(err, errStuck):
		return &Problem{"stuck", "the same failure came back three times; the message says what was learned", "look at the task's logs; rephrase the task or fix the tool it calls"}
	case errors.Is(err, errRefused):
		return &Problem{"model_refused", "the model refused to work on this task", "rephrase the task, or use another model"}
	case errors.Is(err, errFailed):
		return &Problem{"task_failed", "the task could not be done; the message says why", "fix what the message names, or rephrase the task"}
	case errors.Is(err, errLength):
		return &Problem{"model_length", "the model's answer passed its length limit", "ask for a shorter answer"}
	default:
		return &Problem{"internal", "the task failed inside airlock", "look for the task's id in the server's log"}
	}
}
