package discovery

import (
	"fmt"
	"strings"
	"testing"
)

func TestObservedShape(t *testing.T) {
	t.Parallel()
	wide := &strings.Builder{}
	for i := range maxShapeKeys + 1 {
		fmt.Fprintf(wide, `"k%c%c":%d,`, 'a'+i/26, 'a'+i%26, i)
	}
	for name, tc := range map[string]struct {
		results []string
		want    string
	}{
		"nothing":                            {nil, "unknown"},
		"not JSON":                           {[]string{`{"a":`}, "unknown"},
		"types without values":               {[]string{`{"id":7,"name":"secret","ok":true,"none":null}`}, "{ id: number; name: string; ok: boolean; none: null }"},
		"rows, with what some of them lack":  {[]string{`[{"a":1,"b":"x"},{"a":2.5}]`}, "{ a: number; b?: string }[]"},
		"several results":                    {[]string{`{"a":1}`, `{"a":"x","b":[]}`}, "{ a: string | number; b?: unknown[] }"},
		"a result and an error in plain":     {[]string{`{"a":1}`, `"failed"`}, "string | { a: number }"},
		"elements of several types":          {[]string{`[1,"x",null]`}, "(string | number | null)[]"},
		"an empty object":                    {[]string{`{}`}, "{}"},
		"more than thirty keys":              {[]string{`{` + wide.String() + `"z":"s"}`}, "{ [key: string]: string | number }"},
		"keys that are tokens":               {[]string{`{"[EMAIL_1_k7q2f]":{"n":1},"[EMAIL_2_k7q2f]":{"n":2}}`}, "{ [key: string]: { n: number } }"},
		"keys that are dates":                {[]string{`{"2024-01-02":1,"2024-01-03":2}`}, "{ [key: string]: number }"},
		"keys that are no identifiers":       {[]string{`{"a-b":1}`}, `{ "a-b": number }`},
		"a map in one result, keys in other": {[]string{`{"a":1}`, `{"12":"x"}`}, "{ [key: string]: string | number }"},
		"a repeated key":                     {[]string{`{"a":1,"a":"x"}`}, "{ a: string | number }"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var results [][]byte
			for _, r := range tc.results {
				results = append(results, []byte(r))
			}
			got := ObservedShape(results...)
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			checkTypeScript(t, "declare type T = "+got+";")
		})
	}
}

func TestShapesMergeAsIfSeenTogether(t *testing.T) {
	t.Parallel()
	results := []string{`{"a":1,"n":{"x":[1]}}`, `{"a":"s","n":{"y":true}}`, `{"n":{"x":["s"]}}`, `[1]`}
	var together, left, right Shape
	for i, r := range results {
		half := &left
		if i%2 == 1 {
			half = &right
		}
		for _, s := range []*Shape{&together, half} {
			if err := s.Observe([]byte(r)); err != nil {
				t.Fatal(err)
			}
		}
	}
	left.Merge(&right)
	if got, want := left.TypeScript(), together.TypeScript(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestShapeStaysBounded(t *testing.T) {
	t.Parallel()
	nested := `{}`
	for range 4 { // 20^4 properties
		var members []string
		for i := range 20 {
			members = append(members, fmt.Sprintf(`"member_%c":%s`, 'a'+i, nested))
		}
		nested = "{" + strings.Join(members, ",") + "}"
	}
	for name, result := range map[string]string{
		"deep": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"wide": nested,
	} {
		got := ObservedShape([]byte(result))
		if len(got) > maxRenderedType || got == "unknown" {
			t.Errorf("%s: %d bytes: %.80s", name, len(got), got)
		}
		checkTypeScript(t, "declare type T = "+got+";")
		var s Shape
		for range 3 {
			if err := s.Observe([]byte(result)); err != nil {
				t.Fatal(err)
			}
		}
		if s.Nodes() > 2*maxShapeNodes { // a map may add one to each node
			t.Errorf("%s: %d nodes", name, s.Nodes())
		}
	}
}

func FuzzObservedShape(f *testing.F) {
	f.Add(`{"a":[{"b":1},{"c":null}]}`, `{"a":"x"}`)
	f.Fuzz(func(t *testing.T, one, two string) {
		checkTypeScript(t, "declare type T = "+ObservedShape([]byte(one), []byte(two))+";")
	})
}
