package discovery

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanDescription(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"plain text":               {"Lists files.\n\nUse it.", "Lists files.\n\nUse it."},
		"white space around it":    {"  \n Lists\tfiles. \n", "Lists files."},
		"many empty lines":         {"a\n\n \n\n\nb\r\n\r\nc", "a\n\n b\n\nc"},
		"controls":                 {"a\x00b\x1b[31mc\x7f", "ab[31mc"},
		"zero-width characters":    {"ig\u200bnore\u2060 \ufeffme", "ignore me"},
		"direction marks":          {"\u202edelete\u202c\u2066x\u2069", "deletex"},
		"tags that spell commands": {"ok\U000E0049\U000E0047", "ok"},
		"variation selectors":      {"x\uFE0Fy\U000E0100", "xy"},
		"blank fillers":            {"a\u3164\u2800b", "ab"},
		"bad UTF-8":                {"a\xffb", "a\uFFFDb"},
		"other scripts":            {"日本語 Straße 🚨", "日本語 Straße 🚨"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := CleanDescription(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLongDescriptionsAreCut(t *testing.T) {
	t.Parallel()
	got := CleanDescription(strings.Repeat("ü", maxCleanDescription))
	if len(got) > maxCleanDescription || !utf8.ValidString(got) || !strings.HasSuffix(got, "(cut)") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-12:])
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	base := Definition{Name: "a", Title: "t", Description: "d", InputSchema: []byte(`{"type": "object"}`)}
	same := base
	same.InputSchema = []byte("{\n\"type\":\"object\"}")
	if Fingerprint(base) != Fingerprint(same) {
		t.Error("white space in a schema changes the fingerprint")
	}
	for name, change := range map[string]func(*Definition){
		"the name":          func(d *Definition) { d.Name = "b" },
		"the description":   func(d *Definition) { d.Description = "d\u200b" },
		"a schema":          func(d *Definition) { d.InputSchema = []byte(`{"type":"string"}`) },
		"a new schema":      func(d *Definition) { d.OutputSchema = []byte(`{}`) },
		"a broken schema":   func(d *Definition) { d.InputSchema = []byte(`{`) },
		"text moved across": func(d *Definition) { d.Title, d.Description = "td", "" },
	} {
		changed := base
		change(&changed)
		if Fingerprint(base) == Fingerprint(changed) {
			t.Errorf("%s can change without the fingerprint", name)
		}
	}
}
