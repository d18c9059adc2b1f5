package api

import (
	"testing"

	"airlock/ident"
)

func TestTries(t *testing.T) {
	t.Parallel()
	const counted, uncounted = "1", ""
	for name, tc := range map[string]struct {
		before func(t *tries, first *try)
		user   ident.User
		body   string
		count  string
		found  bool
	}{
		"the client counts its try":         {func(*tries, *try) {}, "u", "body", counted, true},
		"the same request beside the first": {func(*tries, *try) {}, "u", "body", uncounted, false},
		"after a broken connection":         {(*tries).broken, "u", "body", uncounted, true},
		"after an answer":                   {(*tries).end, "u", "body", counted, false},
		"another user's request":            {(*tries).broken, "v", "body", counted, false},
		"another request":                   {(*tries).broken, "u", "other", counted, false},
		"long after a broken connection":    {func(t *tries, f *try) { t.broken(f); f.since = f.since.Add(-tryAgain - 1) }, "u", "body", counted, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTries()
			first := all.begin("u", []byte("body"), "task_1")
			tc.before(all, first)
			if again := all.find(tc.user, []byte(tc.body), tc.count); (again != nil) != tc.found {
				t.Errorf("found %+v", again)
			}
		})
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	all := newTries()
	for n := range maxTries + 10 {
		all.begin("u", []byte(jsonNumber(n)), "task")
	}
	if len(all.byID) != maxTries {
		t.Errorf("%d requests are remembered", len(all.byID))
	}
	for _, one := range all.byID {
		all.broken(one)
		one.since = one.since.Add(-tryAgain - 1)
	}
	if all.begin("u", []byte("new"), "task"); len(all.byID) != 1 {
		t.Errorf("%d requests are remembered after all grew old", len(all.byID))
	}
}
