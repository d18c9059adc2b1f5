package pii

import (
	"iter"
	"strings"

	"airlock/pii/internal/boundary"
)

// Lines yields the lines of t, without their ends. A value that spans lines is one
// token by now, so none is divided.
func Lines(t Tokenized) iter.Seq[Tokenized] {
	return func(yield func(Tokenized) bool) {
		for line := range strings.Lines(t.String()) {
			if !yield(boundary.Seal(strings.TrimRight(line, "\r\n"))) {
				return
			}
		}
	}
}

// OneLine is t with every run of white space, line ends included, made one space.
func OneLine(t Tokenized) Tokenized {
	return boundary.Seal(strings.Join(strings.Fields(t.String()), " "))
}
