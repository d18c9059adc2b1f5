package pii

import (
	"strings"

	"airlock/pii/internal/boundary"
)

// Detokenize puts the real values back, each as it has to be written where it
// stands: in a string of JSON escaped, a number of JSON bare again. Text that
// only looks like a token stays. A token of this session that no value belongs
// to is an *UnknownTokenError: a tool must not act on what a model made up.
//
// The result is for a tool. What a user gets goes through DetokenizeForUser, or
// DetokenizeAnswer when it is shown in a chat.
func (v *Vault) Detokenize(t Tokenized) (Raw, error) {
	return v.detokenize(t, detokenizer{v: v})
}

// DetokenizeForUser is Detokenize for a result, a log or a file that a user is
// given. A token that no value belongs to stays as it stands there: what a model
// made up in one place must not lose the user all the rest.
func (v *Vault) DetokenizeForUser(t Tokenized) (Raw, error) {
	return v.detokenize(t, detokenizer{v: v, lenient: true})
}

// DetokenizeAnswer is DetokenizeForUser for an answer that is shown as markdown
// or HTML. Tokens within addresses that showing it would fetch or a click would
// open stay tokens, so that an answer cannot carry values away; mailto: and tel:
// are addresses that the values belong into. It would rather leave a token too
// many than reveal a value where a renderer might find a link.
func (v *Vault) DetokenizeAnswer(t Tokenized) (Raw, error) {
	return v.detokenize(t, v.answer())
}

// answer makes what detokenizes an answer.
func (v *Vault) answer() detokenizer {
	return detokenizer{v: v, lenient: true, links: newLinks()}
}

func (v *Vault) detokenize(t Tokenized, d detokenizer) (Raw, error) {
	v.touch()
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return Raw{}, ErrErased
	}
	text := t.String()
	if _, ok := v.nextToken(text, 0, 0); !ok {
		return boundary.NewRaw(text), nil
	}
	d.out = make([]byte, 0, len(text)+len(text)/8)
	if _, err := d.run(text, 0, true); err != nil {
		return Raw{}, err
	}
	return boundary.NewRaw(string(d.out)), nil
}

// detokenizer writes a text with the values in it. It follows the text only as
// far as a value depends on where it stands: most are the same everywhere.
type detokenizer struct {
	v       *Vault
	lenient bool   // leave tokens that no value belongs to
	links   *links // nil: put values into links too
	ctx     cursor
	out     []byte
	fed     int          // how far ctx has followed the text at hand
	marks   []tokenMatch // tokens from there on
}

// run writes text from at on, and returns how far it came: to the end if this is
// the end of all, otherwise to where a token may begin that is not whole yet. The
// caller holds v.mu.
func (d *detokenizer) run(text string, at int, end bool) (int, error) {
	d.fed = at
	floor := 0
	for {
		m, ok := d.v.nextToken(text, floor, floor)
		if !ok {
			break
		}
		floor = m.end
		if m.end <= at {
			continue
		}
		if start, more := m.mayGoOn(text, at); more && !end {
			return d.stop(text, at, quoteBefore(text, at, start)), nil
		}
		if m.entry == nil && !d.lenient {
			return at, &UnknownTokenError{Token: m.name}
		}
		if m.entry == nil || m.start < at {
			continue // text, or began before it was known and is shown already
		}
		if !end && d.links.undecided(text[m.end:]) {
			return d.stop(text, at, quoteBefore(text, at, m.start)), nil
		}
		d.text(text[at:m.start])
		at = d.token(text, m)
	}
	if end {
		return d.stop(text, at, len(text)), nil
	}
	return d.stop(text, at, d.v.holdFrom(text, at)), nil
}

// stop writes what is left up to there.
func (d *detokenizer) stop(text string, at, there int) int {
	d.text(text[at:there])
	return there
}

// text writes what is no token.
func (d *detokenizer) text(s string) {
	from := len(d.out)
	d.out = append(d.out, s...)
	d.links.follow(d.out[from:])
}

// token writes the value of m and returns where the text goes on.
func (d *detokenizer) token(text string, m tokenMatch) int {
	end := m.end
	from := len(d.out)
	switch {
	case d.links.hold(text[m.end:]):
		d.out = append(d.out, text[m.start:m.end]...)
	case !m.entry.delicate:
		d.out = append(d.out, m.entry.forms[0]...)
	default:
		d.follow(text, m.start)
		end = d.delicate(text, m)
	}
	d.links.follow(d.out[from-(end-m.end):]) // a value may be written by an enemy, too
	d.marks = append(d.marks, m)
	return end
}

// follow brings ctx to a place in the text.
func (d *detokenizer) follow(text string, to int) {
	for _, m := range d.marks {
		d.ctx.feed(text[d.fed:m.start])
		d.ctx.atom(false)
		d.fed = m.end
	}
	d.marks = d.marks[:0]
	d.ctx.feed(text[d.fed:to])
	d.fed = to
}

// delicate writes a value that depends on where it stands, and returns where the
// text goes on: a number that fills a string takes the quotes with it.
func (d *detokenizer) delicate(text string, m tokenMatch) int {
	depth := d.ctx.depth()
	if m.entry.number && d.ctx.inEmptyValue() {
		quote := quotes[depth-1]
		if before := len(d.out) - len(quote); before >= 0 && string(d.out[before:]) == quote && strings.HasPrefix(text[m.end:], quote) {
			d.out = append(d.out[:before], m.entry.forms[0]...)
			return m.end + len(quote)
		}
	}
	d.out = append(d.out, m.entry.at(depth)...)
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
