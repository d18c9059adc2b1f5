package pii

import (
	"strings"

	"airlock/pii/internal/boundary"
)

// Detokenize puts the real values back, each as it has to be written where it
// stands: in a string of JSON escaped, a number of JSON bare again. Text that
// only looks like a token stays. A token of this session that no value belongs
// to is an *UnknownTokenError.
//
// The result is for a tool or an artifact. What a user reads in a chat goes
// through DetokenizeAnswer.
func (v *Vault) Detokenize(t Tokenized) (Raw, error) {
	return v.detokenize(t, nil)
}

// DetokenizeAnswer is Detokenize for an answer that a user reads. Tokens within
// addresses that a page would fetch or a click would open stay tokens, so that
// an answer cannot carry values away; mailto: and tel: are addresses that the
// values belong into.
func (v *Vault) DetokenizeAnswer(t Tokenized) (Raw, error) {
	return v.detokenize(t, &links{})
}

func (v *Vault) detokenize(t Tokenized, l *links) (Raw, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return Raw{}, ErrErased
	}
	d := detokenizer{v: v, links: l, ctx: newContext()}
	text := t.String()
	m, ok := v.nextToken(text, 0, 0)
	if !ok {
		return boundary.NewRaw(text), nil
	}
	d.out.Grow(len(text))
	if err := d.run(text, m, ok); err != nil {
		return Raw{}, err
	}
	return boundary.NewRaw(d.out.String()), nil
}

// detokenizer writes a text with the values in it. It follows the text lazily:
// most values are written the same way everywhere.
type detokenizer struct {
	v     *Vault
	links *links // nil: put values into links too
	ctx   *context
	out   builder
	fed   int // how far ctx has followed the current text
}

// builder is a strings.Builder that can take back what it wrote last.
type builder struct{ buf []byte }

func (b *builder) Grow(n int)           { b.buf = append(make([]byte, 0, n+n/8), b.buf...) }
func (b *builder) WriteString(s string) { b.buf = append(b.buf, s...) }
func (b *builder) String() string       { return string(b.buf) }

// dropSuffix takes back s; false means that it was not what was written last.
func (b *builder) dropSuffix(s string) bool {
	if !strings.HasSuffix(string(b.buf[max(0, len(b.buf)-len(s)):]), s) {
		return false
	}
	b.buf = b.buf[:len(b.buf)-len(s)]
	return true
}

// run writes the whole of text, whose first token is m.
func (d *detokenizer) run(text string, m tokenMatch, ok bool) error {
	at := 0
	marks := make([]tokenMatch, 0, 16) // tokens that ctx has not followed yet
	for ; ok; m, ok = d.v.nextToken(text, at, at) {
		if m.entry == nil {
			return &UnknownTokenError{Token: m.name}
		}
		d.text(text[at:m.start])
		at = m.end
		switch {
		case d.links.hold(text[m.start:m.end]):
			d.out.WriteString(text[m.start:m.end])
		case !m.entry.delicate:
			d.out.WriteString(m.entry.forms[0])
		default:
			d.follow(text, marks, m.start)
			marks = marks[:0]
			at = d.delicate(text, m)
		}
		marks = append(marks, m)
	}
	d.text(text[at:])
	return nil
}

// text writes what is no token.
func (d *detokenizer) text(s string) {
	d.out.WriteString(s)
	d.links.follow(s)
}

// follow brings ctx to where the next token begins.
func (d *detokenizer) follow(text string, passed []tokenMatch, to int) {
	for _, m := range passed {
		d.ctx.feed(text[d.fed:m.start])
		d.ctx.atom(false)
		d.fed = m.end
	}
	d.ctx.feed(text[d.fed:to])
	d.fed = to
}

// delicate writes a value that depends on where it stands, and returns where the
// text goes on.
func (d *detokenizer) delicate(text string, m tokenMatch) int {
	e, depth := m.entry, d.ctx.depth()
	if e.number && d.ctx.inEmptyValue() {
		quote := quotes[depth-1]
		if strings.HasPrefix(text[m.end:], quote) && d.out.dropSuffix(quote) {
			d.out.WriteString(e.forms[0])
			return m.end + len(quote)
		}
	}
	d.out.WriteString(e.at(depth))
	return m.end
}

// at is the value as it is written in a string at that depth, or in text at 0.
func (e *entry) at(depth int) string {
	top := len(e.forms) - 1
	if depth <= top {
		return e.forms[depth]
	}
	text := e.forms[top]
	for ; top < depth; top++ {
		text = escape(text)
	}
	return text
}
