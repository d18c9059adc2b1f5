package canary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"airlock/pii/detect/mix"
)

// The crossings, each with values of its own.
var crossings = []string{
	"the task", "rows", "text", "nested", "keys", "errors", "failures", "resource", "hidden", "hidden error", "hidden file",
	"description", "schema", "arguments",
}

// planting is every value of a run.
type planting struct {
	at map[string][][]mix.Value // by crossing and round
}

func newPlanting() *planting {
	p := &planting{at: map[string][][]mix.Value{}}
	for i, crossing := range crossings {
		for n := range rounds {
			p.at[crossing] = append(p.at[crossing], mix.Values(uint64(1000*n+i+1), 2*mix.Kinds))
		}
	}
	return p
}

// values are those of a crossing in a round.
func (p *planting) values(crossing string, n int) []mix.Value { return p.at[crossing][n%rounds] }

// alone are those of them that identify by themselves.
func (p *planting) alone(crossing string, n int) []mix.Value {
	return slices.DeleteFunc(slices.Clone(p.values(crossing, n)), func(v mix.Value) bool { return !v.Alone })
}

// record is an object of the values under their keys, numbered where they repeat.
func record(values []mix.Value) map[string]any {
	row := map[string]any{"id": 4711, "status": "active"}
	for i, v := range values {
		if _, taken := row[v.Key]; taken {
			row[fmt.Sprintf("more_%d", i)] = map[string]any{v.Key: v.Text}
		} else {
			row[v.Key] = v.Text
		}
	}
	return row
}

func encode(v any) string {
	text, _ := json.Marshal(v) // of strings and numbers
	return string(text)
}

// place is where a text was found.
type place struct {
	what string
	// names says that names of files stand there as scripts chose them. A script
	// can always make one of what it put together itself.
	names bool
}

// search fails for each value that stands in text: as it is, as JSON escapes it, or
// most of it.
func (p *planting) search(t *testing.T, where place, text []byte) {
	t.Helper()
	for _, crossing := range slices.Sorted(maps.Keys(p.at)) {
		if where.names && crossing == "hidden file" {
			continue
		}
		for _, values := range p.at[crossing] {
			for _, v := range values {
				if form := leaked(text, v.Text); form != "" {
					at := bytes.Index(text, []byte(form))
					t.Errorf("%s holds a %s of %s: %q in %q", where.what, v.Type, crossing, v.Text, text[max(0, at-60):min(len(text), at+len(form)+30)])
				}
			}
		}
	}
}

// leaked gives the form in which a value stands in text, "" for none.
func leaked(text []byte, value string) string {
	escaped := encode(value)
	forms := []string{value, escaped[1 : len(escaped)-1]}
	if n := len(value); n >= 12 {
		forms = append(forms, value[:n*3/4], value[n/4:])
	}
	for _, form := range forms {
		if bytes.Contains(text, []byte(form)) {
			return form
		}
	}
	return ""
}
