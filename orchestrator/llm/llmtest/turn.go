// Package llmtest plays models for tests, from scripts of turns.
//
// One Turn says what a model answers once. Two things play a list of them: a
// Script, which is an llm.Provider in this process and records the requests it
// is asked, for tests of the agent; and a Server, which speaks the wire protocols
// of Anthropic and OpenAI and records the bodies it received, for tests of the
// drivers and of what leaves the process. A Server can also misbehave as real
// ones do: see Fault.
//
// RunContract is the suite that every driver for a remote model passes.
package llmtest

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"airlock/orchestrator/llm"
)

// Turn is one answer of a model.
type Turn struct {
	// Reasoning is thought before the answer; empty sends none.
	Reasoning string
	// Redacted is the data of a block of reasoning that its provider encrypted;
	// only a Server sends it, and only by Anthropic's protocol.
	Redacted string
	Text     string
	// Calls are the tools it calls. A call without ID gets one from a Script and
	// goes without one over the wire.
	Calls []llm.Call
	// Usage is reported as it is; all zero reports one input and one output token.
	Usage llm.Usage
	// Stop defaults to StopTools with calls and to StopEnd without.
	Stop llm.StopReason
	// Err ends a Script's turn in place of Stop, after all else was yielded.
	Err error
	// Hold delays the answer until it is closed; nil delays nothing. The wait
	// ends with the request too.
	Hold <-chan struct{}
	// Fault is how a Server spoils the turn.
	Fault Fault
}

// ErrScriptOver is the error of a model asked more often than its script says.
var ErrScriptOver = errors.New("the script has no more turns")

// stop returns the reason that the turn ends with.
func (t Turn) stop() llm.StopReason {
	switch {
	case t.Stop != "":
		return t.Stop
	case len(t.Calls) > 0:
		return llm.StopTools
	default:
		return llm.StopEnd
	}
}

func (t Turn) usage() llm.Usage {
	if t.Usage == (llm.Usage{}) {
		return llm.Usage{InputTokens: 1, OutputTokens: 1}
	}
	return t.Usage
}

// pieceBytes is small enough to tear words and PII tokens apart.
const pieceBytes = 7

// pieces cuts s into parts of about size bytes that are whole runes.
func pieces(s string, size int) []string {
	var parts []string
	for len(s) > size {
		end := size
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	if s != "" {
		parts = append(parts, s)
	}
	return parts
}

// callID names the index-th call of the turn-th answer.
func callID(turn, index int) string { return fmt.Sprintf("call_%d_%d", turn, index) }
