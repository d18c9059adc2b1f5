package orchestrator

import "time"

// Observer is told what happens, to count it. Nothing that it is told is personal. Its
// methods may be called concurrently and must return at once.
type Observer interface {
	TaskTaken()
	TaskEnded(status string, took time.Duration)
	TurnEnded(outcome string, inputTokens, outputTokens, cachedTokens int, took time.Duration)
	ExecutionEnded(backend, language, reason string, took time.Duration)
	// ToolCalled is told an empty server for a tool that there is not.
	ToolCalled(server, outcome string, took time.Duration)
}

// unobserved is an Observer that does not look.
type unobserved struct{}

func (unobserved) TaskTaken()                                           {}
func (unobserved) TaskEnded(string, time.Duration)                      {}
func (unobserved) TurnEnded(string, int, int, int, time.Duration)       {}
func (unobserved) ExecutionEnded(string, string, string, time.Duration) {}
func (unobserved) ToolCalled(string, string, time.Duration)             {}
