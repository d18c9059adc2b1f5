package pii

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"airlock/pii/internal/boundary"
)

// maxDecoding bounds how many encodings within one another are undone.
const maxDecoding = 3

// Filter tokenizes what leaves a sandbox that saw real values. Beside what
// Tokenize finds, it finds every value that the vault knows in any case, split by
// separators, reversed, percent-encoded, escaped as in JSON, in base64 or in hex,
// and in these within one another. Values of types that identify by themselves
// are found anywhere, others from six bytes on as whole words.
//
// A value in disguise gets a token of its own, which stands for exactly what was
// there, and has the origins of the value: it may go nowhere that may not.
// In Open mode, Tokenize does this for what comes from a script.
func (v *Vault) Filter(r Raw, from Origin) (Tokenized, error) {
	w := works.Get().(*work)
	defer w.release()
	text := boundary.Open(r)
	if err := v.look(w, text); err != nil {
		return Tokenized{}, err
	}
	p := newPlacer(text)
	return v.finish(w, &p, text, from, true)
}

// sightings finds what is in disguise in text: values of the vault, and those that
// the detector found in the text itself.
func (v *Vault) sightings(w *work, text string) ([]sighting, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	v.known.mu.Lock()
	defer v.known.mu.Unlock()
	v.known.update(v)
	s := search{v: v, among: []*known{v.known, knownIn(text, w)}}
	s.look(viewOf(text), maxDecoding)
	return s.found, s.err
}

// knownIn is an index of what the detector found in text.
func knownIn(text string, w *work) *known {
	k := newKnown()
	for _, span := range w.spans {
		value := text[span.Start:span.End]
		k.add(&entry{typ: span.Type, forms: []string{value}})
		if plain, ok := unescape(value); ok {
			k.add(&entry{typ: span.Type, forms: []string{plain}})
		}
	}
	return k
}

// search looks through the views of a text.
type search struct {
	v     *Vault
	among []*known
	found []sighting
	err   error
}

// find adds the values that are in a view.
func (s *search) find(of view) {
	for _, k := range s.among {
		s.found = k.find(s.found, of)
	}
}

// look searches a view, and the views of it.
func (s *search) look(of view, depth int) {
	s.find(of)
	s.find(reversed(of))
	s.detect(of)
	if depth == 0 {
		return
	}
	if plain, ok := unescaped(of); ok {
		s.look(plain, depth-1)
	}
	for _, e := range encodings {
		e.decoded(of, s.wants, func(plain view) { s.look(plain, depth-1) })
	}
}

// wants reports whether decoded bytes are worth a look.
func (s *search) wants(plain []byte) bool {
	return isText(plain) || slices.ContainsFunc(s.among, func(k *known) bool { return k.mayHold(plain) })
}

// isText reports whether bytes are likely to have been meant as text.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && !isSpace(c) || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// detect runs the detector on what was decoded, for values that the vault does
// not know.
func (s *search) detect(of view) {
	if !of.decoded || s.err != nil {
		return
	}
	spans, err := s.v.finder.Find(nil, of.text)
	if err != nil {
		s.err = fmt.Errorf("look for personal data in what was encoded: %w", err)
	}
	for _, span := range spans {
		if selfIdentifying[span.Type] {
			unknown := &entry{typ: span.Type}
			s.found = append(s.found, sighting{start: of.begins(span.Start), end: of.ends(span.End - 1), entry: unknown})
		}
	}
}

// mergeSightings lines up values found by the detector and in disguise with the
// tokens. Where they overlap they become one, which covers all.
func mergeSightings(w *work, text string, sightings []sighting) []piece {
	values := appendValues(nil, text, w.spans)
	for _, s := range sightings {
		f := found{text: text[s.start:s.end], typ: s.entry.typ}
		values = append(values, piece{found: f, start: s.start, end: s.end, bases: []*entry{s.entry}})
	}
	slices.SortStableFunc(values, func(a, b piece) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	joined := values[:0]
	for _, one := range values {
		if n := len(joined); n > 0 && one.start < joined[n-1].end {
			joined[n-1].absorb(one, text)
			continue
		}
		joined = append(joined, one)
	}
	return merge(w.pieces, joined, text, w.tokens)
}

// absorb makes p cover other, which begins within it. The type is that of the
// longer.
func (p *piece) absorb(other piece, text string) {
	if other.end-other.start > p.end-p.start {
		p.typ = other.typ
	}
	if other.end > p.end {
		p.end, p.number = other.end, false
		p.text = text[p.start:p.end]
	}
	p.bases = append(p.bases, other.bases...)
}
