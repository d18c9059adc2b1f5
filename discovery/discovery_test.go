package discovery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

func named(full, description string, parameters ...string) servers.Tool {
	server, name, _ := strings.Cut(full, separator)
	var properties []string
	for _, p := range parameters {
		properties = append(properties, fmt.Sprintf("%q:{}", p))
	}
	return servers.Tool{
		Server: server, Name: name, Description: pii.NewRaw(description),
		InputSchema: pii.NewRaw(`{"properties":{` + strings.Join(properties, ",") + `}}`),
	}
}

func sampleIndex(t *testing.T) *Index {
	t.Helper()
	ix, err := NewIndex([]servers.Tool{
		named("github__create_pull_request", "Open a new pull request", "owner", "repo"),
		named("github__listIssues", "List the issues of a repository", "owner", "repo", "label"),
		named("database__query", "Run a read-only SQL query", "query", "database"),
		named("database__list_tables", "Names of all tables"),
		named("clock__now_then", "The time", "timezone"),
		named("clock__then_now", "The time", "timezone"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func TestSearch(t *testing.T) {
	t.Parallel()
	ix := sampleIndex(t)
	for name, tc := range map[string]struct {
		question string
		limit    int
		want     []string
	}{
		"parts of a snake_case name":      {"pull request", 1, []string{"github__create_pull_request"}},
		"parts of a camelCase name":       {"issues", 1, []string{"github__listIssues"}},
		"stems":                           {"creating requests", 1, []string{"github__create_pull_request"}},
		"a parameter's name":              {"label", 5, []string{"github__listIssues"}},
		"the server's name":               {"database", 2, []string{"database__query", "database__list_tables"}},
		"equal tools by name":             {"timezone", 5, []string{"clock__now_then", "clock__then_now"}},
		"the exact name comes first":      {"clock__then_now", 1, []string{"clock__then_now"}},
		"stop words find nothing":         {"of the a", 5, nil},
		"a misspelt word":                 {"repositry", 1, []string{"github__listIssues"}},
		"a synonym":                       {"merge request", 1, []string{"github__create_pull_request"}},
		"a word of like meaning":          {"clocks", 1, []string{"clock__now_then"}},
		"an unknown word finds nothing":   {"zzyzxq", 5, nil},
		"an empty question finds nothing": {"", 5, nil},
		"no more than the limit":          {"timezone", 1, []string{"clock__now_then"}},
		"a limit below zero":              {"timezone", -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, m := range ix.Search(tc.question, tc.limit) {
				got = append(got, m.Name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSearchIsStable(t *testing.T) {
	t.Parallel()
	ix := realIndex(t)
	first := ix.Search("list the open issues of a repository", 1000)
	for range 5 {
		if again := ix.Search("list the open issues of a repository", 1000); !slices.Equal(again, first) {
			t.Fatal("the same question got another order")
		}
	}
}

func TestNewIndexRefusesEqualNames(t *testing.T) {
	t.Parallel()
	if _, err := NewIndex([]servers.Tool{named("a__b", ""), named("a__b", "")}); err == nil || !strings.Contains(err.Error(), `"a__b"`) {
		t.Errorf("got %v, want an error that names a__b", err)
	}
}

func TestIndexOfNothing(t *testing.T) {
	t.Parallel()
	ix, err := NewIndex(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := ix.Search("anything", 5); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if got := ix.Nearest("anything", 3); len(got) != 0 {
		t.Errorf("nearest is %v", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	ix := sampleIndex(t)
	for name, tc := range map[string]struct{ wanted, first string }{
		"a typo":                  {"database__qurey", "database__query"},
		"another case":            {"GitHub__ListIssues", "github__listIssues"},
		"another separator":       {"database.list-tables", "database__list_tables"},
		"the bare tool":           {"create_pull_request", "github__create_pull_request"},
		"a single underscore":     {"clock_now_then", "clock__now_then"},
		"something else entirely": {"", "database__query"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ix.Nearest(tc.wanted, 3)
			if len(got) != 3 || got[0] != tc.first {
				t.Errorf("got %q, want %q first of 3", got, tc.first)
			}
		})
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"abc", "abd", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "xabc", 1}} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listPullRequests":             "list pull requests listpullrequests",
		"HTTPServer":                   "http server httpserver",
		"get_s3-object":                "get s3 object",
		"Straße über":                  "straße über",
		"日本語":                          "日本語",
		"a.b/c":                        "a b c",
		"":                             "",
		strings.Repeat("x", maxWord+1): "",
	} {
		if got := strings.Join(splitWords(text), " "); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func TestRealToolsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	ix := realIndex(t)
	for i, name := range ix.Names() {
		if i%30 != 0 { // a sample, as each takes milliseconds under the race detector
			continue
		}
		if got := ix.Search(name, 1); len(got) == 0 || got[0].Name != name {
			t.Errorf("%s is not the first match of its name: %v", name, got)
		}
		if got := ix.Nearest(name, 1); got[0] != name {
			t.Errorf("%s is not nearest to itself but %v", name, got)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	ix := realIndex(b)
	for b.Loop() {
		ix.Search("list the open issues of a repository that are assigned to me", 20)
	}
}

func BenchmarkNearest(b *testing.B) {
	ix := realIndex(b)
	for b.Loop() {
		ix.Nearest("github__list_isues", 3)
	}
}

func BenchmarkNewIndex(b *testing.B) {
	var tools []servers.Tool
	for _, r := range realTools(b) {
		tools = append(tools, r.tool())
	}
	for b.Loop() {
		if _, err := NewIndex(tools); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignature(b *testing.B) {
	tools := realTools(b)
	i := 0
	for b.Loop() {
		tool := tools[i%len(tools)]
		Signature(tool.full, tool.InputSchema, tool.OutputSchema)
		i++
	}
}
