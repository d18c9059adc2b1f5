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
	"slices"
	"time"
)

// Type names a kind of personal data, as it stands in tokens.
type Type string

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

// TypeInfo describes a type for people who choose among them.
type TypeInfo struct {
	Type        Type
	Description string
	On          bool   // found by this detector
	Pack        string // the pack that brings it, "" for the standard ones
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
	disabled []Type
	custom   []customPattern
}

// New makes a detector. A pattern that does not compile is an error that names
// the pattern.
func New(o Options) (*Detector, error) {
	if len(o.Packs) > 0 {
		return nil, fmt.Errorf("unknown pack %q", o.Packs[0])
	}
	custom, err := compileCustom(o.Custom, o.CustomTimeout)
	if err != nil {
		return nil, err
	}
	return &Detector{disabled: o.Disabled, custom: custom}, nil
}

// Find appends the values in data to dst, sorted and disjoint. It fails only when
// a custom pattern ran out of time; the caller must then not use the text at all.
func (d *Detector) Find(dst []Span, data []byte) ([]Span, error) {
	base := len(dst)
	dst = d.standard(dst, data)
	for i := range d.custom {
		var err error
		if dst, err = d.custom[i].find(dst, data); err != nil {
			return dst[:base], err
		}
	}
	found := resolve(data, dst[base:])
	return dst[:base+len(found)], nil
}

// Types lists every type this detector knows, on or off.
func (d *Detector) Types() []TypeInfo {
	var all []TypeInfo
	for _, t := range seedTypes {
		all = append(all, TypeInfo{Type: t.Type, Description: t.description, On: !slices.Contains(d.disabled, t.Type)})
	}
	for i := range d.custom {
		all = append(all, TypeInfo{Type: d.custom[i].name, Description: "custom pattern", On: true, Pack: "custom"})
	}
	return all
}
