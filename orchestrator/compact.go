package orchestrator

import (
	"slices"

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

// keptRefused is how many of the latest messages are not shortened when the model has
// refused the conversation as too long once, and twice. A third time is the last.
var keptRefused = []int{2, 0}

// The notes that stand where something was.
var (
	cutNote     = pii.Static(" ... [cut to save room: run the script again, or read the file it wrote, if you need the rest]")
	droppedNote = pii.Static("[The beginning of this conversation is left out to save room.]")
	turnsNote   = pii.Static("[Some of your turns on this are left out to save room.]")
)

// compact keeps the conversation within what the model takes in: results of tools from
// earlier turns are cut first; if that is not enough, the oldest part of the
// conversation goes, as a whole up to a message of the user, and then the oldest turns
// behind that.
func (a *agent) compact() {
	before := size(a.messages)
	if before <= a.room {
		return
	}
	a.messages = cutResults(a.messages, a.whole)
	for size(a.messages) > a.room {
		shorter, ok := dropOldest(a.messages, a.whole)
		if !ok {
			shorter, ok = dropTurn(a.messages, a.whole)
		}
		if !ok {
			break
		}
		a.messages = shorter
	}
	a.logOf(a.task).Info("shortened a conversation for the model", zap.Int("bytes", before), zap.Int("left", size(a.messages)))
}

// shorten halves a conversation that the model has refused as too long, after so many
// refusals before. It reports whether there is less to ask with now; the rest of the
// task keeps to what was found out.
func (a *agent) shorten(refused int) bool {
	if refused >= len(keptRefused) {
		return false
	}
	before := size(a.messages)
	a.room, a.whole = min(a.room, before)/2, min(a.whole, keptRefused[refused])
	a.compact()
	return size(a.messages) < before
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
			case llm.Opaque:
				_, data := p.Kept()
				n += len(data)
			}
		}
	}
	return n
}

// cutResults shortens the results of all but the latest messages. What it is given
// stays as it is: events and earlier requests share it.
func cutResults(messages []llm.Message, latest int) []llm.Message {
	shorter := append([]llm.Message(nil), messages...)
	for i := range max(len(shorter)-latest, 0) {
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
func dropOldest(messages []llm.Message, latest int) ([]llm.Message, bool) {
	for i := 1; i < len(messages)-latest; i++ {
		if !says(messages[i]) {
			continue
		}
		return append([]llm.Message{noted(messages[i], droppedNote)}, messages[i+1:]...), true
	}
	return messages, false
}

// turnMessages are the model's calls and their results.
const turnMessages = 2

// dropTurn leaves out the first turn behind what the user says, but never the latest:
// the model would take its scripts for not run. It reports whether there was one.
func dropTurn(messages []llm.Message, latest int) ([]llm.Message, bool) {
	if len(messages) < 1+turnMessages+max(latest, turnMessages) || !answered(messages[1:]) {
		return messages, false
	}
	return append([]llm.Message{noted(messages[0], turnsNote)}, messages[1+turnMessages:]...), true
}

// noted is m with a note before what the user says, once.
func noted(m llm.Message, note pii.Tokenized) llm.Message {
	if part := llm.Part(llm.Text{Text: note}); !slices.Contains(m.Parts, part) {
		m.Parts = append([]llm.Part{part}, m.Parts...)
	}
	return m
}

// answered reports whether messages begin with calls and their results.
func answered(messages []llm.Message) bool {
	if messages[0].Role != llm.Assistant || messages[1].Role != llm.User || len(messages[1].Parts) == 0 {
		return false
	}
	_, ok := messages[1].Parts[0].(llm.ToolResult)
	return ok
}

// says reports whether the user says something in m.
func says(m llm.Message) bool {
	if m.Role != llm.User || len(m.Parts) == 0 {
		return false
	}
	_, ok := m.Parts[0].(llm.Text)
	return ok
}
