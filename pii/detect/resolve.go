package detect

import "slices"

// resolve sorts spans, drops those that touch one of our tokens, and lets the
// longest of those that overlap win, then the earlier type. It works in place.
func resolve(data []byte, spans []Span) []Span {
	sortByStart(spans)
	kept := spans[:0]
	for _, s := range spans {
		if s.Start >= s.End || touchesToken(data, s.Start, s.End) {
			continue
		}
		kept = keepLongest(kept, s)
	}
	return kept
}

// sortByStart keeps the order of spans that start together. Most lists are sorted
// already.
func sortByStart(spans []Span) {
	byStart := func(a, b Span) int { return a.Start - b.Start }
	if !slices.IsSortedFunc(spans, byStart) {
		slices.SortStableFunc(spans, byStart)
	}
}

// keepLongest adds s to disjoint spans, in place of shorter ones that it overlaps.
func keepLongest(kept []Span, s Span) []Span {
	n := len(kept)
	for n > 0 && kept[n-1].End > s.Start {
		if kept[n-1].End-kept[n-1].Start >= s.End-s.Start {
			return kept
		}
		n--
	}
	return append(kept[:n], s)
}
