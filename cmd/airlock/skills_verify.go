package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

type skillsVerify struct {
	Names []string `arg:"" optional:"" help:"Skills to verify; by default all that have an example or a test."`
	whose
}

// verified is how a skill's checks ended.
type verified struct {
	Skill   string     `json:"skill"`
	Passed  bool       `json:"passed"`
	Skipped string     `json:"skipped,omitempty"`
	Checks  []ranCheck `json:"checks,omitempty"`
}

type ranCheck struct {
	Name      string   `json:"name"`
	Passed    bool     `json:"passed"`
	Execution executed `json:"execution"`
}

// Run verifies each skill and fails if one does not pass. A skill that was not named
// and has nothing to run, or no sandbox for its language, is skipped.
func (s skillsVerify) Run(ctx context.Context, c *Config, std streams) error {
	cl, err := c.connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	names := s.Names
	if len(names) == 0 {
		var list struct{ Skills []skill }
		if err := cl.send(ctx, http.MethodGet, "/skills?"+url.Values{"userId": {s.User}}.Encode(), nil, &list); err != nil {
			return err
		}
		for _, k := range list.Skills {
			names = append(names, k.ID)
		}
	}
	all, failed := []verified{}, false
	for _, name := range names {
		done := progress(std, "verifying "+name)
		v, err := s.verify(ctx, cl, name)
		done()
		if err != nil {
			return err
		}
		failed = failed || !v.Passed && v.Skipped == ""
		all = append(all, v)
		if !s.JSON {
			v.print(std)
		}
	}
	if s.JSON {
		err = printJSON(std.out, all)
	}
	if err == nil && failed {
		err = errReported
	}
	return err
}

func (s skillsVerify) verify(ctx context.Context, cl *client, name string) (verified, error) {
	v := verified{Skill: name}
	var answer struct {
		Passed bool
		Checks []ranCheck
	}
	err := cl.send(ctx, http.MethodPost, s.skillPath(name, "/verify", nil), map[string]any{"userId": s.User}, &answer)
	var refused *apiError
	if errors.As(err, &refused) && (refused.Code == "no_checks" || refused.Code == "unsupported_language") && len(s.Names) == 0 {
		v.Skipped = refused.Message
		return v, nil
	}
	v.Passed, v.Checks = answer.Passed, answer.Checks
	return v, err
}

func (v verified) print(std streams) {
	switch {
	case v.Skipped != "":
		fmt.Fprintf(std.out, "skipped  %s: %s\n", v.Skill, v.Skipped)
		return
	case v.Passed:
		fmt.Fprintf(std.out, "passed   %s\n", v.Skill)
		return
	}
	fmt.Fprintf(std.out, "failed   %s\n", v.Skill)
	for _, c := range v.Checks {
		if c.Passed {
			continue
		}
		reason := fmt.Errorf("it returned %s", shortJSON(c.Execution.Result))
		if c.Execution.Error != nil {
			reason = c.Execution.failure()
		}
		fmt.Fprintf(std.out, "  %s: %v\n", c.Name, reason)
	}
}

// shortJSON is a value for a line of text.
func shortJSON(value json.RawMessage) string { return firstLine(string(value), 100) }
