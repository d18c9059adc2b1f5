package discovery

import (
	"cmp"
	"slices"
	"strings"
)

// maxComparedName bounds the work of comparing names; longer ones are cut.
const maxComparedName = 128

// separator stands between server and tool in a full name.
const separator = "__"

// Nearest lists the n tools whose names take the fewest edits to become name, the
// nearest first and by name among equals. A name without its server is compared
// with names without theirs.
func (ix *Index) Nearest(name string, n int) []string {
	type candidate struct {
		name     string
		distance int
	}
	wanted := foldName(name)
	all := make([]candidate, 0, len(ix.names))
	for _, full := range ix.names {
		all = append(all, candidate{full, nameDistance(wanted, foldName(full))})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var nearest []string
	for _, c := range all[:min(max(n, 0), len(all))] {
		nearest = append(nearest, c.name)
	}
	return nearest
}

// foldName makes names comparable that differ in case or in their separators only.
func foldName(s string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(head(s, maxComparedName)))
}

func nameDistance(wanted, full string) int {
	d := editDistance(wanted, full)
	if _, tool, ok := strings.Cut(full, separator); ok && !strings.Contains(wanted, separator) {
		// One more than the bare tool's distance: a full name that fits as well comes first.
		d = min(d, editDistance(wanted, tool)+1)
	}
	return d
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbouring bytes that turn a into b (optimal string alignment).
func editDistance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(replace, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
