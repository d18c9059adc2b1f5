package main

import (
	"context"
	"encoding/json"
	"fmt"
)

type taskCommand struct {
	Task string `arg:"" help:"What to do, in your own words."`
	User string `default:"local" help:"User to work for."`
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
	done := progress(std, "working")
	var whole json.RawMessage
	err = cl.do(ctx, "/task", map[string]any{"userId": t.User, "task": t.Task}, &whole)
	done()
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
		fmt.Fprintln(std.out, out.Message)
	}
	for _, a := range out.Artifacts {
		fmt.Fprintf(std.err, "artifact %s (%d bytes)\n", a.Name, a.Size)
	}
	if out.Error != nil {
		return out.Error
	}
	return nil
}
