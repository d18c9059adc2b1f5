package api

import (
	"testing"

	"airlock/ident"
)

func TestTries(t *testing.T) {
	t.Parallel()
	const counted, uncounted = "1", ""
	for name, tc := range map[string]struct {
		before  func(t *tries, first *try)
		user    ident.User
		session ident.Session
		body    string
		count   string
		found   bool
	}{
		"the client counts its try":         {func(*tries, *try) {}, "u", "ses_1", "body", counted, true},
		"the same request beside the first": {func(*tries, *try) {}, "u", "ses_1", "body", uncounted, false},
		"after a broken connection":         {(*tries).broken, "u", "ses_1", "body", uncounted, true},
		"after an answer":                   {(*tries).end, "u", "ses_1", "body", counted, false},
		"another user's request":            {(*tries).broken, "v", "ses_1", "body", counted, false},
		"another session":                   {(*tries).broken, "u", "ses_2", "body", uncounted, false},
		"another request":                   {(*tries).broken, "u", "ses_1", "other", counted, false},
		"long after a broken connection":    {func(t *tries, f *try) { t.broken(f); f.since = f.since.Add(-tryAgain - 1) }, "u", "ses_1", "body", counted, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTries()
			first := all.begin("u", "ses_1", []byte("body"), "task_1")
			tc.before(all, first)
			if again := all.find(tc.user, tc.session, []byte(tc.body), tc.count); (again != nil) != tc.found {
				t.Errorf("found %+v", again)
			}
		})
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	all := newTries()
	for n := range maxTries + 10 {
		all.begin("u", "ses_1", []byte(jsonNumber(n)), "task")
	}
	if len(all.byID) != maxTries {
		t.Errorf("%d requests are remembered", len(all.byID))
	}
	for _, one := range all.byID {
		all.broken(one)
		one.since = one.since.Add(-tryAgain - 1)
	}
	if all.begin("u", "ses_1", []byte("new"), "task"); len(all.byID) != 1 {
		t.Errorf("%d requests are remembered after all grew old", len(all.byID))
	}
}
