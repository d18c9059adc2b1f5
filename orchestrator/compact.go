package orchestrator

import (
	"go.uber.org/zap"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

const (
	// bytesPerToken is on the safe side: English has about four, JSON about three.
	bytesPerToken = 3
	// keptWhole is how many of the latest messages are never shortened: the model is
	// still working with them.
	keptWhole = 6
	// keptOf is what is left of an older result, in bytes.
	keptOf = 400
)

// The notes that stand where something was.
var (
	cutNote     = pii.Static(" ... [cut to save room: run the script again, or read the file it wrote, if you need the rest]")
	droppedNote = pii.Static("[The beginning of this conversation is left out to save room.]")
)

// compact keeps the conversation within what the model takes in: results of tools
// from earlier turns are cut first, and if that is not enough, the oldest part of
// the conversation goes, as a whole up to a message of the user.
func (a *agent) compact() {
	limit := a.opts.Limits.ContextTokens * bytesPerToken
	if size(a.messages) <= limit {
		return
	}
	before := size(a.messages)
	a.messages = cutResults(a.messages)
	for size(a.messages) > limit {
		shorter, ok := dropOldest(a.messages)
		if !ok {
			break
		}
		a.messages = shorter
	}
	a.logOf(a.task).Info("shortened a conversation for the model", zap.Int("bytes", before), zap.Int("left", size(a.messages)))
}

// size is the length of what messages say, in bytes.
func size(messages []llm.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += p.Text.Len()
			case llm.ToolUse:
				n += p.Arguments.Len()
			case llm.ToolResult:
				n += p.Content.Len()
			}
		}
	}
	return n
}

// cutResults shortens the results of all but the latest messages. What it is given
// stays as it is: events and earlier requests share it.
func cutResults(messages []llm.Message) []llm.Message {
	shorter := append([]llm.Message(nil), messages...)
	for i := range max(len(shorter)-keptWhole, 0) {
		parts := append([]llm.Part(nil), shorter[i].Parts...)
		for j, p := range parts {
			if r, ok := p.(llm.ToolResult); ok && r.Content.Len() > keptOf+cutNote.Len() {
				r.Content = pii.Join(pii.Cut(r.Content, keptOf), cutNote)
				parts[j] = r
			}
		}
		shorter[i].Parts = parts
	}
	return shorter
}

// dropOldest leaves out the messages before the second one in which the user says
// something: a call of a tool and its result stay together. It reports whether
// there was such a one among those that may go.
func dropOldest(messages []llm.Message) ([]llm.Message, bool) {
	for i := 1; i < len(messages)-keptWhole; i++ {
		if !says(messages[i]) {
			continue
		}
		first := messages[i]
		if t := first.Parts[0].(llm.Text); t.Text != droppedNote {
			first.Parts = append([]llm.Part{llm.Text{Text: droppedNote}}, first.Parts...)
		}
		return append([]llm.Message{first}, messages[i+1:]...), true
	}
	return messages, false
}

// says reports whether the user says something in m.
func says(m llm.Message) bool {
	if m.Role != llm.User || len(m.Parts) == 0 {
		return false
	}
	_, ok := m.Parts[0].(llm.Text)
	return ok
}
