package pii

import (
	"slices"
	"strings"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// Tokenizer tokenizes a text that comes in parts, such as the output of a running
// script. It belongs to one goroutine.
//
// It holds back what may be part of a value: a line until it ends, a document of
// JSON and a private key until they are whole, but never more than 64 KiB. Where
// it has to divide something longer it does so outside of the values it found.
type Tokenizer struct {
	v    *Vault
	from Origin
	kept strings.Builder // what is held back
	raw  cursor          // at seen, with the values as they are
	seen int             // how much of it raw has followed
	cut  int             // where it may be divided, 0: nowhere
	p    placer          // at its beginning, with the values as atoms
}

// maxHeld bounds what a Tokenizer holds back, margin what it then leaves at the
// end, so that no value is divided: more than any but a private key has.
const (
	maxHeld = 64 << 10
	margin  = 4 << 10
)

// Tokenizer makes one for text of that origin.
func (v *Vault) Tokenizer(from Origin) *Tokenizer {
	return &Tokenizer{v: v, from: from, p: placer{stream: true}}
}

// Write takes the next part and returns what is whole. After an error the stream
// is of no use any more.
func (t *Tokenizer) Write(r Raw) (Tokenized, error) {
	t.kept.WriteString(boundary.Open(r))
	t.scout(t.kept.String())
	if t.cut == 0 && t.kept.Len() < maxHeld {
		return Tokenized{}, nil
	}
	return t.emit()
}

// Flush tokenizes what is held back. It is called at the end, and before anything
// that is not text comes between the parts.
func (t *Tokenizer) Flush() (Tokenized, error) {
	t.cut = t.kept.Len()
	return t.emit()
}

// scout finds the last end of a line that is outside of JSON and private keys.
func (t *Tokenizer) scout(held string) {
	for t.seen < len(held) {
		next := len(held)
		if at := strings.IndexByte(held[t.seen:], '\n'); at >= 0 {
			next = t.seen + at + 1
		}
		t.raw.feed(held[t.seen:next])
		t.seen = next
		if held[next-1] == '\n' && t.raw.layers[0].state == prose && !inKey(held[t.cut:next]) {
			t.cut = next
		}
	}
}

// inKey reports whether s ends within a block such as a private key (RFC 7468).
func inKey(s string) bool {
	at := strings.LastIndex(s, "-----BEGIN ")
	return at >= 0 && !strings.Contains(s[at:], "-----END ")
}

// emit tokenizes what is held up to cut, or a part of it when there is no cut.
func (t *Tokenizer) emit() (Tokenized, error) {
	w := works.Get().(*work)
	defer w.release()
	held := t.kept.String()
	part := held[:t.cut]
	if t.cut == 0 {
		part = held
	}
	if err := t.v.look(w, part); err != nil {
		return Tokenized{}, err
	}
	if t.cut == 0 {
		part = part[:divideAt(part, w)]
	}
	out, err := t.v.finish(w, &t.p, part, t.from, t.v.mode == Open && t.from == OriginScript)
	t.kept = strings.Builder{}
	t.kept.WriteString(held[len(part):])
	t.seen = max(0, t.seen-len(part))
	t.cut = 0
	return out, err
}

// divideAt finds a place near the end of text, outside of values and tokens, and
// forgets those after it.
func divideAt(text string, w *work) int {
	at := max(0, len(text)-margin)
	if space := strings.LastIndexAny(text[at/2:at], " \n,"); space >= 0 {
		at = at/2 + space + 1
	}
	if at = outside(at, w); at == 0 {
		return len(text) // one value fills all: it is whole, or nothing helps
	}
	w.tokens = slices.DeleteFunc(w.tokens, func(m tokenMatch) bool { return m.start >= at })
	w.spans = slices.DeleteFunc(w.spans, func(s detect.Span) bool { return s.Start >= at })
	return at
}

// outside moves at to the beginning of the value or token that it is in.
func outside(at int, w *work) int {
	for moved := true; moved; {
		moved = false
		for _, s := range w.spans {
			if s.Start < at && at < s.End {
				at, moved = s.Start, true
			}
		}
		for _, m := range w.tokens {
			if m.start < at && at < m.end {
				at, moved = m.start, true
			}
		}
	}
	return at
}
