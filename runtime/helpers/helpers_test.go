package helpers

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

func TestEverySourceIsUsed(t *testing.T) {
	t.Parallel()
	lazy := read("js/core/lazy.js")
	for _, name := range lazyNames() {
		loads := regexp.MustCompile(`(load\(|: )'` + name + `'`)
		if !loads.MatchString(lazy + allSources(t)) {
			t.Errorf("js/lazy/%s.js is never loaded", name)
		}
	}
	for _, match := range regexp.MustCompile(`: '(\w+)'`).FindAllStringSubmatch(lazy, -1) {
		if _, err := fs.Stat(sources, "js/lazy/"+match[1]+".js"); err != nil {
			t.Errorf("js/core/lazy.js names a missing source: %v", err)
		}
	}
	files, _ := fs.Glob(sources, "js/core/*.js")
	if len(files) != len(core) {
		t.Errorf("js/core holds %d sources, %d of them are joined", len(files), len(core))
	}
}

func allSources(t *testing.T) string {
	var all strings.Builder
	err := fs.WalkDir(sources, "js", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all.WriteString(read(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// Joining strips comment lines and indentation, which would change a text that
// goes over several lines.
func TestNoTextGoesOverSeveralLines(t *testing.T) {
	t.Parallel()
	for number, line := range strings.Split(allSources(t), "\n") {
		if strings.Count(line, "`")%2 != 0 {
			t.Errorf("line %d opens a template and does not close it: %s", number+1, line)
		}
	}
}

func TestPreludeIsOneExpression(t *testing.T) {
	t.Parallel()
	text := JavaScript()
	if !strings.HasPrefix(text, "(function (host) {") || !strings.HasSuffix(text, "})") {
		t.Errorf("prelude is %.40q … %q", text, text[len(text)-20:])
	}
	if text != JavaScript() {
		t.Error("two calls give two texts")
	}
}
