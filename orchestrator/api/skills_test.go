package api

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"airlock/skills"
)

func TestSkillsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"an unfit one":      {fmt.Errorf("add: %w", &skills.Fault{File: "a.js", Line: 2, Problem: "does not parse"}), 422, "unfit_skill"},
		"an unknown one":    {skills.ErrUnknown, 404, "not_found"},
		"a shipped one":     {skills.ErrShipped, 403, "read_only"},
		"a changed one":     {skills.ErrChanged, 409, "changed"},
		"no shared ones":    {skills.ErrNoShared, 409, "no_shared_skills"},
		"anything else":     {fmt.Errorf("disk is full of secrets"), 500, "internal"},
		"what is no reason": {fmt.Errorf("wrapped: %w", skills.ErrKey), 500, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			send := start(t, &fakeService{err: tc.err}, all)
			status, _, body := send("POST", "/skills/x/promote", `{"userId":"u1","hash":"h"}`)
			if status != tc.status || !strings.Contains(body, `"code":"`+tc.code+`"`) || strings.Contains(body, "disk is full") {
				t.Errorf("answered %d %s, want %d %s", status, body, tc.status, tc.code)
			}
		})
	}
}

func TestSkillUploadsAreOneOfTwo(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{}, all)
	junk := base64.StdEncoding.EncodeToString([]byte("no zip"))
	for body, want := range map[string]int{
		`{"userId":"u1","name":"a.js","files":{"a.js":"// x"}}`: 200,
		`{"userId":"u1"}`:                      400,
		`{"userId":"u1","name":"a.js"}`:        400,
		`{"userId":"u1","files":{"a.js":"x"}}`: 400,
		`{"userId":"u1","name":"a.js","files":{"a.js":"x"},"zip":"` + junk + `"}`: 400,
		`{"userId":"u1","zip":"` + junk + `"}`:                                    422,
		`{"userId":"u1","name":"a.js","files":{"a.js":"x"},"scope":"shared"}`:     400,
	} {
		if status, _, answer := send("POST", "/skills", body); status != want {
			t.Errorf("%s answered %d %s, want %d", body, status, answer, want)
		}
	}
}

// TestSharedSkillsAreTheOperators lets a caller with every right change only its own.
func TestSharedSkillsAreTheOperators(t *testing.T) {
	t.Parallel()
	send := startWith(t, Options{Service: &fakeService{}, Port: "3000", Authenticator: fakeCallers{"ann": {User: "u1", Rights: all}}})
	for request, want := range map[[3]string]int{
		{"DELETE", "/skills/mine", ""}:                                           204,
		{"DELETE", "/skills/shared%2Fherd", ""}:                                  403,
		{"POST", "/skills/shared%2Fherd/rollback", `{"number":1}`}:               403,
		{"POST", "/skills/mine/promote", `{"hash":"x"}`}:                         403,
		{"DELETE", "/skills/mine?userId=u2", ""}:                                 403,
		{"POST", "/skills", `{"userId":"u2","name":"a.js","files":{"a.js":""}}`}: 403,
	} {
		if status, _, answer := send(request[0], request[1], request[2], "Authorization", "Bearer ann"); status != want {
			t.Errorf("%v answered %d %s, want %d", request, status, answer, want)
		}
	}
}
