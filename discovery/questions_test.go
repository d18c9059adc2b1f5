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

func (k quality) percent(n int) float64 { return 100 * float64(n) / float64(max(k.asked, 1)) }

// measure asks the questions of one part, and counts those that Fits tells right.
func measure(ix *Index, all []question, half string) (answered, fitting, unfitting quality) {
	for _, q := range all {
		if q.half != half {
			continue
		}
		found := ix.Search(q.text, 10)
		fits := len(found) > 0 && found[0].Score >= Fits
		if q.tools == nil {
			unfitting.count(!fits, 1)
			continue
		}
		fitting.count(fits, 1)
		at := q.place(found)
		answered.count(at > 0, at)
	}
	return answered, fitting, unfitting
}

func (k *quality) count(right bool, at int) {
	k.asked++
	if !right {
		return
	}
	for _, c := range []struct {
		upTo int
		n    *int
	}{{1, &k.first}, {5, &k.inFive}, {10, &k.inTen}} {
		if at <= c.upTo {
			*c.n++
		}
	}
}

// The floors are a little under what was measured, so that a change that costs
// answers is seen. testdata/questions.tsv says which questions the index was tuned with.
func TestQuestions(t *testing.T) {
	t.Parallel()
	ix := realIndex(t)
	for half, floor := range map[string]struct{ inFive, fitting, unfitting float64 }{
		"tune":  {93, 92, 80},
		"held":  {88, 90, 80},
		"late":  {86, 90, 0},
		"fresh": {72, 76, 80},
		"blind": {86, 90, 80},
		"last":  {88, 88, 80},
		"end":   {80, 85, 60},
	} {
		answered, fitting, unfitting := measure(ix, questions(t), half)
		t.Logf("%s: %d questions: first %.0f %%, in five %.0f %%, in ten %.0f %%; said to fit %.0f %%; of %d without a tool said not to fit %.0f %%",
			half, answered.asked, answered.percent(answered.first), answered.percent(answered.inFive), answered.percent(answered.inTen),
			fitting.percent(fitting.first), unfitting.asked, unfitting.percent(unfitting.first))
		for what, is := range map[string][2]float64{
			"right tools in the first five":     {answered.percent(answered.inFive), floor.inFive},
			"questions said to fit":             {fitting.percent(fitting.first), floor.fitting},
			"questions rightly said not to fit": {unfitting.percent(unfitting.first), floor.unfitting},
		} {
			if is[0] < is[1] {
				t.Errorf("%s: %s: %.0f %%, want at least %.0f %%", half, what, is[0], is[1])
			}
		}
	}
}
