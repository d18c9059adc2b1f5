package pii

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// found is a value as it stands in a text: level is the number of layers of
// escapes in text that we would not have written ourselves.
type found struct {
	text   string
	typ    Type
	level  int
	number bool
}

// piece is a part of a text that is replaced, or a token that stays.
type piece struct {
	found
	start, end int
	depth      int // of strings, for the quotes of a number
	token      bool
	entry      *entry
}

// work is what one call of Tokenize needs, kept for the next one.
type work struct {
	spans  []detect.Span
	tokens []tokenMatch
	pieces []piece
}

var works = sync.Pool{New: func() any { return new(work) }}

// release gives w back without anything that points to a text.
func (w *work) release() {
	clear(w.tokens)
	clear(w.pieces)
	w.spans, w.tokens, w.pieces = w.spans[:0], w.tokens[:0], w.pieces[:0]
	works.Put(w)
}

// Tokenize replaces every personal value in r by its token and notes that the
// values were seen from that origin. Prose and JSON may come alone, mixed and
// within one another; valid JSON stays valid. Tokens that are in r already stay
// as they are. When it fails, nothing of r may be used.
func (v *Vault) Tokenize(r Raw, from Origin) (Tokenized, error) {
	w := works.Get().(*work)
	defer w.release()
	text := boundary.Open(r)
	if err := v.analyze(w, text); err != nil {
		return Tokenized{}, err
	}
	if err := v.resolve(w.pieces, from); err != nil {
		return Tokenized{}, fmt.Errorf("tokenize %d bytes from %s: %w", len(text), from, err)
	}
	return boundary.Seal(replace(text, w.pieces)), nil
}

// analyze finds what is to be replaced.
func (v *Vault) analyze(w *work, text string) error {
	var err error
	if w.spans, err = v.finder.Find(w.spans[:0], bytesOf(text)); err != nil {
		return fmt.Errorf("look for personal data in %d bytes: %w", len(text), err)
	}
	w.tokens, err = v.tokensIn(w.tokens[:0], text)
	if err != nil {
		return err
	}
	w.pieces = merge(w.pieces[:0], text, w.spans, w.tokens)
	place(text, w.pieces)
	return nil
}

// bytesOf lends the bytes of s to the detector, which only reads them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// tokensIn lists the known tokens in text.
func (v *Vault) tokensIn(dst []tokenMatch, text string) ([]tokenMatch, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return dst, ErrErased
	}
	for at := 0; ; {
		m, ok := v.nextToken(text, at, at)
		if !ok {
			return dst, nil
		}
		if m.entry != nil {
			dst = append(dst, m)
		}
		at = m.end
	}
}

// merge lines up values and tokens in the order of the text. What of a value
// overlaps a token stays a token.
func merge(dst []piece, text string, spans []detect.Span, tokens []tokenMatch) []piece {
	for _, s := range spans {
		for len(tokens) > 0 && tokens[0].end <= s.Start {
			dst = append(dst, piece{start: tokens[0].start, end: tokens[0].end, token: true})
			tokens = tokens[1:]
		}
		for len(tokens) > 0 && tokens[0].start < s.End {
			dst = appendValue(dst, text, s, s.Start, tokens[0].start)
			dst = append(dst, piece{start: tokens[0].start, end: tokens[0].end, token: true})
			s.Start, s.Kind = tokens[0].end, detect.Text
			tokens = tokens[1:]
		}
		dst = appendValue(dst, text, s, s.Start, s.End)
	}
	for _, t := range tokens {
		dst = append(dst, piece{start: t.start, end: t.end, token: true})
	}
	return dst
}

func appendValue(dst []piece, text string, s detect.Span, start, end int) []piece {
	if start >= end {
		return dst
	}
	f := found{text: text[start:end], typ: s.Type, number: s.Kind != detect.Text}
	return append(dst, piece{found: f, start: start, end: end})
}

// place works out how each value is written where it stands. Only numbers and
// values with quotes, backslashes or control characters depend on that.
func place(text string, pieces []piece) {
	p := placer{text: text}
	for i := range pieces {
		if !pieces[i].token && (pieces[i].number || isDelicate(pieces[i].text) || looksNumber(text, pieces[i])) {
			p.place(pieces, i)
		}
	}
}

// placer follows a text as far as the last value that depends on where it stands.
type placer struct {
	text  string
	ctx   *context
	at    int // how far ctx has followed
	next  int // the first piece that it has not
	valid *bool
}

func (p *placer) place(pieces []piece, i int) {
	if p.ctx == nil {
		p.ctx = newContext()
	}
	for ; p.next < i; p.next++ {
		p.pass(&pieces[p.next])
	}
	one := &pieces[i]
	p.feed(one.start)
	one.depth = p.ctx.depth()
	one.number = isNumber(one.text) && p.ctx.wantsValue() && endsNumber(p.text, one.end) && (one.number || one.depth == 0 && p.isJSON())
	if !one.number {
		one.text, one.level = peel(one.text, one.depth)
	}
}

// pass follows the text to the end of a piece.
func (p *placer) pass(one *piece) {
	p.feed(one.start)
	p.ctx.atom(one.number)
	p.at = one.end
}

func (p *placer) feed(end int) {
	p.ctx.feed(p.text[p.at:end])
	p.at = end
}

// isJSON reports whether the whole text is valid JSON.
func (p *placer) isJSON() bool {
	if p.valid == nil {
		ok := json.Valid(bytesOf(p.text))
		p.valid = &ok
	}
	return *p.valid
}

// looksNumber reports whether a value may be a bare number of JSON although the
// detector took it for text.
func looksNumber(text string, p piece) bool {
	if last := p.text[len(p.text)-1]; last < '0' || last > '9' || !isNumber(p.text) || !endsNumber(text, p.end) {
		return false
	}
	before := strings.TrimRight(text[max(0, p.start-8):p.start], " \t\r\n")
	return before == "" || strings.IndexByte(":,[", before[len(before)-1]) >= 0
}

// endsNumber reports whether what follows can follow a number of JSON, at any
// depth of strings.
func endsNumber(text string, end int) bool {
	return end == len(text) || strings.IndexByte(",]} \t\r\n\\", text[end]) >= 0
}

// peel takes off the escapes that we would write ourselves, and says how many
// layers are left.
func peel(text string, depth int) (string, int) {
	for depth > 0 {
		plain, ok := unescape(text)
		if !ok || escape(plain) != text {
			break
		}
		text = plain
		depth--
	}
	return text, depth
}

// resolve gives every value its entry, a new one where there is none.
func (v *Vault) resolve(pieces []piece, from Origin) error {
	if v.resolveKnown(pieces, from) {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range pieces {
		p := &pieces[i]
		if p.token {
			continue
		}
		p.entry = v.find(p.found)
		if p.entry == nil {
			e, err := v.add(p.found)
			if err != nil {
				return err
			}
			p.entry = e
		}
		p.entry.sight(p.found, from)
	}
	return nil
}

// resolveKnown is resolve for a text that teaches the vault nothing.
func (v *Vault) resolveKnown(pieces []piece, from Origin) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i := range pieces {
		p := &pieces[i]
		if p.token {
			continue
		}
		p.entry = v.find(p.found)
		if p.entry == nil || !p.entry.knows(p.found, from) {
			return false
		}
	}
	return true
}

// replace writes text with the tokens in it.
func replace(text string, pieces []piece) string {
	size := len(text)
	for i := range pieces {
		if p := &pieces[i]; !p.token {
			size += len(p.entry.token) - (p.end - p.start)
			if p.number {
				size += 2 * len(quotes[p.depth])
			}
		}
	}
	if len(pieces) == 0 {
		return text
	}
	out := strings.Builder{}
	out.Grow(size)
	at := 0
	for i := range pieces {
		p := &pieces[i]
		if p.token {
			continue
		}
		out.WriteString(text[at:p.start])
		writeToken(&out, p)
		at = p.end
	}
	out.WriteString(text[at:])
	return out.String()
}

func writeToken(out *strings.Builder, p *piece) {
	if !p.number {
		out.WriteString(p.entry.token)
		return
	}
	out.WriteString(quotes[p.depth])
	out.WriteString(p.entry.token)
	out.WriteString(quotes[p.depth])
}

// Join puts parts together as they are.
func Join(parts ...Tokenized) Tokenized {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.String())
	}
	return boundary.Seal(out.String())
}
