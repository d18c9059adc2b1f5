package detect

import "slices"

// resolve sorts spans and removes overlaps: the longest wins, then the earlier.
// Spans that touch one of our tokens go. It works in place.
func resolve(data []byte, spans []Span) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	kept := spans[:0]
	for _, s := range spans {
		if touchesToken(data, s.Start, s.End) {
			continue
		}
		if n := len(kept); n > 0 && s.Start < kept[n-1].End {
			if s.End-s.Start > kept[n-1].End-kept[n-1].Start {
				kept[n-1] = s
			}
			continue
		}
		kept = append(kept, s)
	}
	return kept
}
