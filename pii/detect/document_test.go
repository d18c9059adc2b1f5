package detect

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocumentTellsEveryType holds the tables of docs/PII.md: they list all types
// there are, and what they say is found is found.
func TestDocumentTellsEveryType(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/PII.md")
	if err != nil {
		t.Fatal(err)
	}
	all := newDetector(t, Options{}).Types()
	told := map[Type]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		typ := Type(strings.Trim(cells[0], " `"))
		i := slices.IndexFunc(all, func(info TypeInfo) bool { return info.Type == typ })
		if i < 0 || told[typ] || len(cells) < 4 {
			continue
		}
		told[typ] = true
		o := Options{}
		if pack := all[i].Pack; pack != "" {
			if o.Packs = []string{pack}; cells[1] != "`"+pack+"`" {
				t.Errorf("%s is in the pack %s, not in %s", typ, pack, cells[1])
			}
		}
		example := strings.Trim(cells[len(cells)-1], " `")
		if got := find(t, newDetector(t, o), example); !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, string(typ)+"=") }) {
			t.Errorf("%s is not found in %q, only %q", typ, example, got)
		}
	}
	for _, info := range all {
		if !told[info.Type] {
			t.Errorf("%s is not told of", info.Type)
		}
	}
}
