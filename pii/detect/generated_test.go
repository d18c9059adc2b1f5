package detect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"airlock/pii/detect/mix"
)

// settings are the ways a value stands in texts that tools and people write.
var settings = map[string]func(v mix.Value, seed uint64) (text, value string){
	"prose": func(v mix.Value, seed uint64) (string, string) { return v.Sentence(seed), v.Text },
	"json": func(v mix.Value, _ uint64) (string, string) {
		return fmt.Sprintf(`{"id":17,%q:%s,"ok":true}`, v.Key, quote(v.Text)), inner(v.Text)
	},
	"spaced json": func(v mix.Value, _ uint64) (string, string) {
		return fmt.Sprintf("{\n  \"id\": 17,\n  %q: %s\n}", v.Key, quote(v.Text)), inner(v.Text)
	},
	"json in json": func(v mix.Value, _ uint64) (string, string) {
		nested := quote(fmt.Sprintf(`{%q:%s}`, v.Key, quote(v.Text)))
		return `{"text":` + nested + `}`, inner(inner(v.Text))
	},
	"yaml": func(v mix.Value, _ uint64) (string, string) {
		return "row:\n  " + v.Key + ": " + v.Text + "\n  n: 4\n", v.Text
	},
	"label": func(v mix.Value, _ uint64) (string, string) { return v.Label + ": " + v.Text + "\n", v.Text },
	"inspect": func(v mix.Value, _ uint64) (string, string) {
		mark := "'"
		if strings.Contains(v.Text, mark) {
			mark = `"`
		}
		return "{ id: 17, " + v.Key + ": " + mark + v.Text + mark + " }", v.Text
	},
	"logfmt": func(v mix.Value, _ uint64) (string, string) {
		return `level=info ` + v.Key + `="` + v.Text + `" n=2`, v.Text
	},
	"bullet": func(v mix.Value, _ uint64) (string, string) { return "- **" + v.Label + "**: " + v.Text + "\n", v.Text },
	"key in json": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone {
			return "", ""
		}
		return `{"by":{` + quote(v.Text) + `:3}}`, inner(v.Text)
	},
	"csv": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone {
			return "", ""
		}
		return "id,x,y\n1,foo," + v.Text + "\n2," + v.Text + ",bar", v.Text
	},
	"table": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone {
			return "", ""
		}
		return "| 1 | " + v.Text + " | x |", v.Text
	},
	"html": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone {
			return "", ""
		}
		return "<td>" + v.Text + "</td>", v.Text
	},
	"joined": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone || v.Type == "EMAIL" || v.Type == "SECRET" {
			return "", ""
		}
		return "see scan_" + v.Text + ".pdf, crm__" + v.Text + "_copy", v.Text
	},
	"quoted": func(v mix.Value, _ uint64) (string, string) {
		if !v.Alone {
			return "", ""
		}
		return "WHERE x = '" + v.Text + "'", v.Text
	},
}

func quote(text string) string {
	b, _ := json.Marshal(text) // a string always marshals
	return string(b)
}

// inner is text as it stands in a JSON string.
func inner(text string) string { q := quote(text); return q[1 : len(q)-1] }

func TestGeneratedValues(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	hits, misses := map[string]int{}, map[string]int{}
	shown := map[string]int{}
	for name, set := range settings {
		for i, v := range mix.Values(11, 150*mix.Kinds) {
			text, value := set(v, uint64(i))
			if text == "" {
				continue
			}
			got := find(t, d, text)
			key := v.Type + " " + name
			if slices.Contains(got, v.Type+"="+value) {
				hits[key]++
				continue
			}
			misses[key]++
			if shown[key]++; shown[key] <= 3 {
				t.Logf("%s: %q gives %q", key, text, got)
			}
		}
	}
	for key, n := range misses {
		t.Errorf("%s: %d of %d missed", key, n, n+hits[key])
	}
}

// maxFalse is the share of innocent lines in which something may be found: a number
// of a fixed length now and then has the check digits of another.
const maxFalse = 0.004

func TestInnocentLines(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	lines, alarms := mix.Innocent(3, 8000), 0
	for _, line := range lines {
		if got := find(t, d, line); len(got) > 0 {
			if alarms++; alarms <= 12 {
				t.Logf("%q in %q", got, line)
			}
		}
	}
	if share := ratio(alarms, len(lines)); share > maxFalse {
		t.Errorf("something was found in %d of %d lines", alarms, len(lines))
	}
}
