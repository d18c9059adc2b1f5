package pii

import (
	"slices"
	"testing"

	"airlock/pii/internal/boundary"
)

func TestLinesAndOneLine(t *testing.T) {
	t.Parallel()
	text := boundary.Seal("one [EMAIL_1_k7q2f]\r\n\n two\tthree")
	var got []string
	for line := range Lines(text) {
		got = append(got, line.String())
	}
	if want := []string{"one [EMAIL_1_k7q2f]", "", " two\tthree"}; !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
	if got := OneLine(text).String(); got != "one [EMAIL_1_k7q2f] two three" {
		t.Errorf("one line is %q", got)
	}
}
