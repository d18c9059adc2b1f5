package ident

import (
	"strings"
	"testing"
)

func TestParseUser(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in string
		ok bool
	}{
		"a plain name":             {"user123", true},
		"an e-mail address":        {"ann.lee@example.org", true},
		"128 characters":           {strings.Repeat("a", 128), true},
		"129 characters":           {strings.Repeat("a", 129), false},
		"empty":                    {"", false},
		"a leading dot":            {".hidden", false},
		"a path":                   {"../etc/passwd", false},
		"a slash":                  {"a/b", false},
		"a trailing line break":    {"ann\n", false},
		"a character beyond ASCII": {"änn", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := ParseUser(tc.in)
			if (err == nil) != tc.ok {
				t.Fatalf("ParseUser(%q) = %q, %v; want ok=%v", tc.in, u, err, tc.ok)
			}
		})
	}
}

func TestPseudonymIsStableKeyedAndSilent(t *testing.T) {
	t.Parallel()
	a, b := NewPseudonym([]byte("0123456789abcdef")), NewPseudonym([]byte("fedcba9876543210"))
	u := User("ann@example.org")
	if again := a.User(u); again != NewPseudonym([]byte("0123456789abcdef")).User(u) {
		t.Error("the same user got two names under one key")
	}
	if a.User(u) == b.User(u) {
		t.Error("two keys gave the same name: the hash is not keyed")
	}
	if a.User(u) == a.Text(string(u))[:24] {
		t.Error("a user and a text of the same characters share a name")
	}
	if strings.Contains(a.User(u), "ann") {
		t.Error("the name holds the user id")
	}
}

func TestIdsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[Task]bool{}
	for range 1000 {
		id := NewTask()
		if seen[id] {
			t.Fatalf("%s was made twice", id)
		}
		seen[id] = true
	}
}
