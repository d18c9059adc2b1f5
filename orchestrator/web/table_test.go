package web

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, text string
		head       []string
		numeric    []bool
		rows       [][]string
	}{
		"CSV":                {"a.csv", "name,total\nAnn,\"1,200.50\"\nBo,-3\n", []string{"name", "total"}, []bool{false, true}, [][]string{{"Ann", "1,200.50"}, {"Bo", "-3"}}},
		"rows of odd length": {"a.csv", "a,b\n1\n1,2,3\n", []string{"a", "b"}, []bool{true, true}, [][]string{{"1"}, {"1", "2", "3"}}},
		"tabs":               {"a.tsv", "a\tb\nx\t1\n", []string{"a", "b"}, []bool{false, true}, [][]string{{"x", "1"}}},
		"JSON":               {"a.json", `[{"b":1,"a":"x"},{"a":"y","c":[1]}]`, []string{"b", "a", "c"}, []bool{true, false, false}, [][]string{{"1", "x", ""}, {"", "y", "[1]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := previewOf(tc.file, "text/plain", []byte(tc.text))
			if view.Kind != "table" {
				t.Fatalf("it is shown as %s", view.Kind)
			}
			if got := view.Table; !reflect.DeepEqual(got, table{Head: tc.head, Numeric: tc.numeric, Rows: tc.rows}) {
				t.Errorf("the table is %+v", got)
			}
		})
	}
}

func TestPreviewKinds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, mime, text, kind string }{
		"a picture":             {"a.png", "image/png", "\x89PNG", "image"},
		"a drawing":             {"a.svg", "image/svg+xml", "<svg/>", "image"},
		"a document":            {"a.HTML", "text/html", "<p>", "document"},
		"a note":                {"a.md", "text/markdown", "# A", "markdown"},
		"JSON that is no list":  {"a.json", "application/json", `{"a":1}`, "text"},
		"a list of numbers":     {"a.json", "application/json", `[1,2]`, "text"},
		"broken JSON":           {"a.json", "application/json", `[{`, "text"},
		"an empty CSV":          {"a.csv", "text/csv", "", "text"},
		"other data":            {"a.bin", "application/octet-stream", "\x00\x01", "none"},
		"text of no known kind": {"notes", "application/octet-stream", "hello", "text"},
	} {
		if got := previewOf(tc.file, tc.mime, []byte(tc.text)).Kind; got != tc.kind {
			t.Errorf("%s is shown as %s, want %s", name, got, tc.kind)
		}
	}
}

func TestLargeTablesAreCut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("n\n")
	for i := range maxRows + 7 {
		fmt.Fprintln(&b, i)
	}
	view := previewOf("a.csv", "text/csv", []byte(b.String()))
	if len(view.Table.Rows) != maxRows || view.Table.More != 7 {
		t.Errorf("%d rows are shown and %d are not", len(view.Table.Rows), view.Table.More)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("a,b\n1,2\n", `[{"a":1}]`)
	f.Fuzz(func(t *testing.T, csv, json string) {
		for _, view := range []preview{previewOf("a.csv", "text/csv", []byte(csv)), previewOf("a.json", "application/json", []byte(json))} {
			if view.Kind == "table" && len(view.Table.Numeric) != len(view.Table.Head) {
				t.Errorf("%+v", view.Table)
			}
		}
	})
}
