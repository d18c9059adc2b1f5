package discovery

import (
	"bufio"
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/questions.tsv
var questionsFile []byte

// question is one question in plain words; no tools means that none fits.
type question struct {
	half, text string
	tools      []string
}

func questions(tb testing.TB) []question {
	tb.Helper()
	var all []question
	lines := bufio.NewScanner(bytes.NewReader(questionsFile))
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 {
			tb.Fatalf("questions.tsv: %q has not three parts", lines.Text())
		}
		q := question{half: parts[0], text: parts[1]}
		if parts[2] != "-" {
			q.tools = strings.Fields(parts[2])
		}
		all = append(all, q)
	}
	return all
}

// place is the position of the first right tool, from 1, or 0 if it is not among
// the first ten.
func (q question) place(found []Match) int {
	for i, m := range found {
		if slices.Contains(q.tools, m.Name) {
			return i + 1
		}
	}
	return 0
}

// quality is how well an index answers some questions.
type quality struct{ asked, first, inFive, inTen int }

func (k quality) percent(n int) float64 { return 100 * float64(n) / float64(k.asked) }

func TestQuestions(t *testing.T) {
	t.Parallel()
	ix := realIndex(t)
	of := map[string]*quality{}
	count := func(key string, place int) {
		k := of[key]
		if k == nil {
			k = &quality{}
			of[key] = k
		}
		k.asked++
		for _, c := range []struct {
			upTo int
			n    *int
		}{{1, &k.first}, {5, &k.inFive}, {10, &k.inTen}} {
			if place > 0 && place <= c.upTo {
				*c.n++
			}
		}
	}
	for _, q := range questions(t) {
		if q.tools == nil {
			continue
		}
		found := ix.Search(q.text, 10)
		place := q.place(found)
		count(q.half, place)
		count("all", place)
		if q.half == "tune" && (place == 0 || place > 5) {
			t.Logf("missed (%d): %s -> %v, want %v", place, q.text, names(found), q.tools)
		}
	}
	for _, half := range []string{"tune", "held", "all"} {
		k := of[half]
		t.Logf("%-5s %3d questions: first %.0f%%, in five %.0f%%, in ten %.0f%%", half, k.asked, k.percent(k.first), k.percent(k.inFive), k.percent(k.inTen))
	}
}

func names(found []Match) []string {
	var all []string
	for _, m := range found[:min(5, len(found))] {
		all = append(all, m.Name)
	}
	return all
}
