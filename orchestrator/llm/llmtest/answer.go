package llmtest

import (
	"iter"
	"strings"

	"airlock/orchestrator/llm"
)

// Answer is a whole stream, taken together.
type Answer struct {
	Text      string
	Calls     []llm.Call
	Reasoning []llm.Opaque
	Usage     llm.Usage
	// Stop is empty if the stream did not tell.
	Stop llm.StopReason
	Err  error
	// Deltas counts the pieces of text; AfterEnd counts what came after the end.
	Deltas, AfterEnd int
}

// Collect reads a stream to its end.
func Collect(stream iter.Seq2[llm.Event, error]) Answer {
	var a Answer
	var text strings.Builder
	for event, err := range stream {
		if a.Stop != "" || a.Err != nil {
			a.AfterEnd++
		}
		if err != nil {
			a.Err = err
			continue
		}
		switch e := event.(type) {
		case llm.TextDelta:
			text.WriteString(e.Text)
			a.Deltas++
		case llm.Reasoning:
			a.Reasoning = append(a.Reasoning, e.Block)
		case llm.Call:
			a.Calls = append(a.Calls, e)
		case llm.Usage:
			a.Usage = e
		case llm.Stop:
			a.Stop = e.Reason
		}
	}
	a.Text = text.String()
	return a
}
