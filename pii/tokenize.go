package pii

import (
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
	part       bool // of a value that was divided
	entry      *entry
	bases      []*entry // the values that this is a disguise of
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
	if err := v.look(w, text); err != nil {
		return Tokenized{}, err
	}
	p := newPlacer(text)
	return v.finish(w, &p, text, from, v.mode == Open && from == OriginScript)
}

// look finds the values and the tokens in text.
func (v *Vault) look(w *work, text string) error {
	v.touch()
	var err error
	if w.spans, err = v.finder.Find(w.spans[:0], bytesOf(text)); err != nil {
		return fmt.Errorf("look for personal data in %d bytes: %w", len(text), err)
	}
	w.tokens, err = v.tokensIn(w.tokens[:0], text)
	return err
}

// finish gives what was found its tokens and writes them. thorough searches for
// values in disguise first.
func (v *Vault) finish(w *work, p *placer, text string, from Origin, thorough bool) (Tokenized, error) {
	sightings := v.recall(w, text)
	if thorough {
		disguised, err := v.sightings(w, text)
		if err != nil {
			return Tokenized{}, err
		}
		sightings = append(sightings, disguised...)
	}
	if len(sightings) > 0 {
		w.pieces = mergeSightings(w, text, sightings)
	} else {
		w.pieces = w.merge(text)
	}
	w.pieces = p.place(text, w.pieces)
	if err := v.resolve(w.pieces, from); err != nil {
		return Tokenized{}, fmt.Errorf("tokenize %d bytes from %s: %w", len(text), from, err)
	}
	return boundary.Seal(replace(text, w.pieces)), nil
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

// merge lines up what look found.
func (w *work) merge(text string) []piece {
	if len(w.tokens) == 0 {
		return appendValues(w.pieces, text, w.spans)
	}
	return merge(w.pieces, appendValues(nil, text, w.spans), text, w.tokens)
}

// merge lines up values and tokens in the order of the text. What of a value
// overlaps a token stays a token.
func merge(dst, values []piece, text string, tokens []tokenMatch) []piece {
	for _, one := range values {
		for len(tokens) > 0 && tokens[0].end <= one.start {
			dst = append(dst, tokens[0].piece())
			tokens = tokens[1:]
		}
		for len(tokens) > 0 && tokens[0].start < one.end {
			dst = appendPart(dst, one, text, one.start, tokens[0].start)
			dst = append(dst, tokens[0].piece())
			one.start, one.number = tokens[0].end, false
			tokens = tokens[1:]
		}
		dst = appendPart(dst, one, text, one.start, one.end)
	}
	for _, t := range tokens {
		dst = append(dst, t.piece())
	}
	return dst
}

func (m tokenMatch) piece() piece { return piece{start: m.start, end: m.end, token: true} }

// appendPart adds what of a value is in text[start:end].
func appendPart(dst []piece, one piece, text string, start, end int) []piece {
	if start >= end {
		return dst
	}
	one.start, one.end, one.text = start, end, text[start:end]
	return append(dst, one)
}

// appendValues adds the values that the detector found.
func appendValues(dst []piece, text string, spans []detect.Span) []piece {
	for _, s := range spans {
		f := found{text: text[s.Start:s.End], typ: s.Type, number: s.Kind != detect.Text}
		dst = append(dst, piece{found: f, start: s.Start, end: s.End})
	}
	return dst
}

// resolve gives every value its entry, a new one where there is none.
func (v *Vault) resolve(pieces []piece, from Origin) error {
	counted := v.rank && from.isServer()
	if !counted && v.resolveKnown(pieces, from) {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	result := uint32(0)
	if counted {
		v.result++
		result = v.result
	}
	for i := range pieces {
		if p := &pieces[i]; !p.token {
			if err := v.settle(p, from); err != nil {
				return err
			}
			p.entry.inResult(result)
		}
	}
	return nil
}

// settle gives p its entry. The caller holds v.mu for writing.
func (v *Vault) settle(p *piece, from Origin) error {
	p.entry = v.find(p.found)
	if p.entry == nil {
		e, err := v.add(p.found)
		if err != nil {
			return err
		}
		p.entry = e
	}
	p.entry.sight(p.found, from)
	p.entry.inherit(p.bases)
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
		if p.entry == nil || !p.entry.knows(p.found, from) || p.bases != nil {
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
