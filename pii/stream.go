package pii

import (
	"strings"

	"airlock/pii/internal/boundary"
)

// Detokenizer puts the real values into a text that comes in parts, however they
// are divided: together its answers are what one call for the whole would give.
// It belongs to one goroutine.
type Detokenizer struct {
	d    detokenizer
	past string // the end of what was written: a token may have begun there
	held string
}

// Detokenizer makes one that does what Detokenize does.
func (v *Vault) Detokenizer() *Detokenizer { return &Detokenizer{d: detokenizer{v: v}} }

// AnswerDetokenizer makes one that does what DetokenizeAnswer does.
func (v *Vault) AnswerDetokenizer() *Detokenizer {
	return &Detokenizer{d: v.answer()}
}

// Write takes the next part and returns what can be shown. It holds back the
// longest end that may be the beginning of a token, and in an answer a token with
// what has to be known of the text after it, and nothing else.
func (d *Detokenizer) Write(t Tokenized) (Raw, error) { return d.write(t.String(), false) }

// Flush returns what was held back. It is called at the end, and before anything
// that is not text comes between the parts.
func (d *Detokenizer) Flush() (Raw, error) { return d.write("", true) }

func (d *Detokenizer) write(part string, end bool) (Raw, error) {
	v := d.d.v
	v.touch()
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return Raw{}, ErrErased
	}
	text := d.past + d.held + part
	d.d.out = d.d.out[:0]
	stop, err := d.d.run(text, len(d.past), end)
	if err != nil {
		return Raw{}, err
	}
	d.d.follow(text, stop)
	d.held = strings.Clone(text[stop:])
	d.past = strings.Clone(text[max(0, stop-maxHold):stop])
	return boundary.NewRaw(string(d.d.out)), nil
}
