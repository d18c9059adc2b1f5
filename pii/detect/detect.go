// Package detect finds personal data in bytes: e-mail addresses, phone and card
// numbers, national identifiers, secrets. It reads text as it is, prose, logs or
// JSON, and says where each value stands; replacing it is the business of package
// pii.
//
// Start with New and Detector.Find. A Detector is immutable and may be used by
// any number of goroutines. What it reports is exact: offsets are bytes of the
// input, spans are sorted and disjoint, and none touches a token such as
// [EMAIL_1_k7q2f]. What it cannot do is know a name in free prose: people are
// found by the key or the label before them.
package detect

import (
	"fmt"
	"sync"
	"time"
)

// Kind says how a value is written.
type Kind uint8

const (
	// Text is a value within text or within a JSON string.
	Text Kind = iota
	// JSONNumber is a whole number token of JSON, outside any string: what
	// replaces it needs quotes.
	JSONNumber
	// NestedNumber is a whole number token of JSON that itself stands in a JSON
	// string: the quotes it needs are escaped as Span.Escape says.
	NestedNumber
)

// Span is a value found: data[Start:End].
type Span struct {
	Start, End int
	Type       Type
	Kind       Kind
	// Escape is the number of backslashes before a quote where a NestedNumber
	// stands: 1 for JSON in a JSON string, 3 one level deeper.
	Escape uint8
}

// Options configure a Detector. The zero value finds the standard types.
type Options struct {
	// Packs are switched on beside the standard types; Types lists them.
	Packs []string
	// Disabled types are not found.
	Disabled []Type
	// Custom maps a type name to a regular expression.
	Custom map[string]string
	// CustomTimeout bounds one search of one custom pattern that the standard
	// library cannot run in linear time; 0 means 50 ms.
	CustomTimeout time.Duration
}

// Detector finds personal data. It never changes after New.
type Detector struct {
	on       typeSet
	packs    *packIndex
	custom   []customPattern
	scanners *sync.Pool
}

// New makes a detector. A pattern that does not compile is an error that names
// the pattern.
func New(o Options) (*Detector, error) {
	on, packs, err := choose(o.Packs, o.Disabled)
	if err != nil {
		return nil, err
	}
	custom, err := compileCustom(o.Custom, o.CustomTimeout)
	if err != nil {
		return nil, err
	}
	return &Detector{on: on, packs: packs, custom: custom, scanners: &sync.Pool{New: func() any { return new(scanner) }}}, nil
}

// choose makes the set of types that are on.
func choose(packs []string, disabled []Type) (typeSet, *packIndex, error) {
	on := typeSet(1)<<standardTypes - 1
	index, extra, err := indexPacks(packs)
	if err != nil {
		return 0, nil, err
	}
	on |= extra
	for _, name := range disabled {
		id, ok := idOf(name)
		if !ok {
			return 0, nil, fmt.Errorf("disabled type %q: no such type; Types lists them", name)
		}
		on &^= 1 << id
	}
	return on, index, nil
}

// Find appends the values in data to dst, sorted and disjoint. It fails only when
// a custom pattern ran out of time; the caller must then not use the text at all.
func (d *Detector) Find(dst []Span, data []byte) ([]Span, error) {
	base := len(dst)
	dst = d.scan(dst, data)
	custom := len(dst)
	for i := range d.custom {
		var err error
		if dst, err = d.custom[i].find(dst, data); err != nil {
			return dst[:base], err
		}
	}
	if len(dst) == base {
		return dst, nil
	}
	found := place(data, dst[base:], custom-base)
	return dst[:base+len(resolve(data, found))], nil
}

// scan runs the built-in detectors.
func (d *Detector) scan(dst []Span, data []byte) []Span {
	s := d.scanners.Get().(*scanner)
	s.on, s.packs, s.labels, s.folds = d.on, d.packs, labels(), true
	s.reset(data, dst)
	s.run()
	dst = s.out
	s.b, s.out = nil, nil
	d.scanners.Put(s)
	return dst
}

// place says of every span how it stands in JSON. The first builtin spans come
// from the built-in detectors, the others from custom patterns.
func place(data []byte, spans []Span, builtin int) []Span {
	p := newPlacer(data)
	sortByStart(spans[:builtin])
	kept := spans[:0]
	for i, s := range spans {
		if i == builtin {
			p = newPlacer(data)
			sortByStart(spans[builtin:])
			s = spans[i]
		}
		if p.place(&s, i >= builtin) {
			kept = append(kept, s)
		}
	}
	return kept
}

// Types lists every type there is, on or off in this detector.
func (d *Detector) Types() []TypeInfo {
	var all []TypeInfo
	for id, t := range standard {
		all = append(all, TypeInfo{Type: t.name, Description: t.description, On: d.on.has(typeID(id))})
	}
	for i, t := range packTypes {
		all = append(all, TypeInfo{Type: t.name, Description: t.description, On: d.on.has(standardTypes + typeID(i)), Pack: t.pack})
	}
	for i := range d.custom {
		all = append(all, TypeInfo{Type: d.custom[i].name, Description: "custom pattern", On: true, Pack: "custom"})
	}
	return all
}

// idOf is the number of a built-in type.
func idOf(name Type) (typeID, bool) {
	for i := range int(standardTypes) + len(packTypes) {
		if nameOf(typeID(i)) == name {
			return typeID(i), true
		}
	}
	return 0, false
}
