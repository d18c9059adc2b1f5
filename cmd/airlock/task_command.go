package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

type taskCommand struct {
	Task string `arg:"" help:"What to do, in your own words."`
	User string `default:"local" help:"User to work for."`
	Yes  bool   `help:"Approve every call of a tool that asks for approval."`
	JSON bool   `help:"Print the whole answer as JSON."`
}

// worked is the answer of POST /task.
type worked struct {
	Status    string
	Message   string
	Error     *apiError
	Artifacts []artifact
}

// Run works on the task: the answer goes to standard output.
func (t taskCommand) Run(ctx context.Context, c *Config, std streams) error {
	if m, err := c.chooseModel(); err == nil && m.provider == "skillmatch" {
		c = c.light()
	}
	cl, err := c.connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	whole, err := t.work(ctx, cl, std)
	if err != nil {
		return err
	}
	var out worked
	if err := json.Unmarshal(whole, &out); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	if t.JSON {
		if err := printJSON(std.out, whole); err != nil {
			return err
		}
		if out.Error != nil {
			return errReported
		}
		return nil
	}
	if out.Message != "" {
		if showsTerminal(std.out) {
			out.Message = visible(out.Message)
		}
		fmt.Fprintln(std.out, out.Message)
	}
	for _, a := range out.Artifacts {
		fmt.Fprintf(std.err, "artifact %s (%d bytes)\n", visible(a.Name), a.Size)
	}
	if out.Error != nil {
		return out.Error
	}
	return nil
}

// work follows the task to its end, answers what it asks, and returns it.
func (t taskCommand) work(ctx context.Context, cl *client, std streams) (whole json.RawMessage, err error) {
	asker := newAsker(std, t.Yes)
	done := progress(std, "working")
	defer func() { done() }()
	var id string
	err = cl.follow(ctx, map[string]any{"userId": t.User, "task": t.Task}, func(e taskEvent) error {
		id = e.TaskID
		if e.Type != "approval.required" {
			return nil
		}
		done()
		defer func() { done = progress(std, "working") }()
		answer, err := asker.ask(ctx, e.Data.Approval)
		if err != nil {
			return err
		}
		answer["userId"] = t.User
		return cl.do(ctx, "/tasks/"+id+"/approvals/"+e.Data.Approval.ID, answer, new(json.RawMessage))
	})
	if err != nil {
		return nil, err
	}
	return whole, cl.do(ctx, "/tasks/"+id+"?userId="+url.QueryEscape(t.User), nil, &whole)
}
