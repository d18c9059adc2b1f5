package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"airlock/runtime/sandbox"
)

type runCommand struct {
	File     string `arg:"" help:"The script; - reads it from standard input."`
	Language string `help:"Language of the script; by default the file name tells."`
	User     string `default:"local" help:"User to run as."`
	JSON     bool   `help:"Print the whole answer as JSON."`
	Tokens   bool   `help:"Leave tokens in place of personal values, as a model would see the result."`
}

// maxScriptBytes bounds a script file; it has to fit into one request.
const maxScriptBytes = 4 << 20

// executed is the answer of POST /execute.
type executed struct {
	SessionID string          `json:"sessionId"`
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	Error     *struct {
		Name, Message, Stack, Hint string
		Line, Column               int
	} `json:"error"`
	Artifacts []artifact `json:"artifacts"`
	Saved     []string   `json:"skillsSaved"`
	Refused   []struct {
		Name, Reason string
	} `json:"skillsRefused"`
	DurationMs int64 `json:"durationMs"`
}

type artifact struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Run runs the script: what it returns goes to standard output, what it prints
// and what went wrong to standard error.
func (r runCommand) Run(ctx context.Context, c *Config, std streams) error {
	code, err := r.read(std)
	if err != nil {
		return usageError{err}
	}
	if l := sandbox.Language(r.language()); l == sandbox.JavaScript || l == sandbox.TypeScript {
		c = c.light()
	}
	cl, err := c.connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	body := map[string]any{"userId": r.User, "language": r.language(), "code": code, "detokenize": !r.Tokens}
	done := progress(std, "running")
	if r.JSON {
		var whole json.RawMessage
		err := cl.do(ctx, "/execute", body, &whole)
		done()
		return r.printWhole(whole, err, std)
	}
	var out executed
	err = cl.do(ctx, "/execute", body, &out)
	done()
	if err != nil {
		return err
	}
	return out.print(std)
}

func (r runCommand) printWhole(whole json.RawMessage, err error, std streams) error {
	if err != nil {
		return err
	}
	if err := printJSON(std.out, whole); err != nil {
		return err
	}
	var out executed
	if err := json.Unmarshal(whole, &out); err != nil || out.Error == nil {
		return err
	}
	return errReported
}

func (r runCommand) read(std streams) (string, error) {
	in := std.in
	if r.File != "-" {
		f, err := os.Open(r.File)
		if err != nil {
			return "", fmt.Errorf("read the script: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScriptBytes+1))
	if err != nil {
		return "", fmt.Errorf("read the script: %w", err)
	}
	if len(text) > maxScriptBytes {
		return "", fmt.Errorf("the script is larger than %d bytes; put data into files or tools", maxScriptBytes)
	}
	return string(text), nil
}

func (r runCommand) language() string {
	if r.Language != "" {
		return r.Language
	}
	switch strings.ToLower(filepath.Ext(r.File)) {
	case ".ts", ".mts", ".cts":
		return string(sandbox.TypeScript)
	case ".py":
		return string(sandbox.Python)
	case ".sh", ".bash":
		return string(sandbox.Bash)
	default:
		return string(sandbox.JavaScript)
	}
}

func (out executed) print(std streams) error {
	fmt.Fprint(std.err, out.Stdout, out.Stderr)
	for _, a := range out.Artifacts {
		fmt.Fprintf(std.err, "artifact %s (%d bytes)\n", a.Name, a.Size)
	}
	for _, name := range out.Saved {
		fmt.Fprintf(std.err, "skill %s saved\n", name)
	}
	for _, refused := range out.Refused {
		fmt.Fprintf(std.err, "skill %s not saved: %s\n", refused.Name, refused.Reason)
	}
	if out.Error != nil {
		return out.failure()
	}
	if string(out.Result) == "null" {
		return nil
	}
	return printJSON(std.out, out.Result)
}

func (out executed) failure() error {
	where := ""
	if out.Error.Line > 0 {
		where = fmt.Sprintf(" (line %d, column %d)", out.Error.Line, out.Error.Column)
	}
	hint := ""
	if out.Error.Hint != "" {
		hint = "; " + out.Error.Hint
	}
	return fmt.Errorf("script ended with %s: %s: %s%s%s", out.Status, out.Error.Name, out.Error.Message, where, hint)
}
