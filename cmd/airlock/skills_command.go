package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

type skillsCommand struct {
	List     skillsList     `cmd:"" help:"List the skills."`
	Search   skillsSearch   `cmd:"" help:"Rank the skills for a task."`
	Show     skillsShow     `cmd:"" help:"Show one skill and its text."`
	Add      skillsAdd      `cmd:"" help:"Save a skill: a folder with SKILL.md, a file name.js or name.py, or a zip archive of either."`
	Export   skillsExport   `cmd:"" help:"Write a skill as a zip archive."`
	Verify   skillsVerify   `cmd:"" help:"Run the examples and tests of skills in the sandbox."`
	History  skillsHistory  `cmd:"" help:"List the versions of a skill."`
	Diff     skillsDiff     `cmd:"" help:"Show how two versions of a skill differ."`
	Rollback skillsRollback `cmd:"" help:"Make an earlier version of a skill the current one."`
	Promote  skillsPromote  `cmd:"" help:"Move a user's skill to those of everybody, after a look at the difference."`
	Delete   skillsDelete   `cmd:"" help:"Remove a skill with its history."`
}

// whose are the flags of all of them.
type whose struct {
	User string `default:"local" help:"User whose skills are meant."`
	JSON bool   `help:"Print JSON."`
}

// skillPath is a skill's route; a name may begin with its scope: shared/name.
func (w whose) skillPath(name, rest string, query url.Values) string {
	if query == nil {
		query = url.Values{}
	}
	query.Set("userId", w.User)
	return "/skills/" + url.PathEscape(name) + rest + "?" + query.Encode()
}

// skill is what the API answers about one.
type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Path        string   `json:"path"`
	Scope       string   `json:"scope"`
	Number      int      `json:"number"`
	Stale       []string `json:"stale"`
	Runs        *struct {
		Count, Failures int
	} `json:"runs"`
	Verified *struct {
		Passed bool
		At     time.Time
	} `json:"verified"`
	Confidence *float64 `json:"confidence"`
	Content    string   `json:"content"`
}

// state tells in a few words what to know before using it.
func (k skill) state() string {
	var parts []string
	if len(k.Stale) > 0 {
		parts = append(parts, "stale: "+strings.Join(k.Stale, ", ")+" changed")
	}
	if k.Verified != nil {
		parts = append(parts, map[bool]string{true: "verified", false: "its checks fail"}[k.Verified.Passed])
	}
	if k.Runs != nil {
		parts = append(parts, fmt.Sprintf("%d runs, %d failed", k.Runs.Count, k.Runs.Failures))
	}
	return strings.Join(parts, "; ")
}

// with connects, asks and prints the answer as JSON or by show.
func (w whose) with(ctx context.Context, c *Config, std streams, method, path string, body any, show func(json.RawMessage) error) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	return w.ask(ctx, cl, std, method, path, body, show)
}

func (w whose) ask(ctx context.Context, cl *client, std streams, method, path string, body any, show func(json.RawMessage) error) error {
	var answer json.RawMessage
	if err := cl.send(ctx, method, path, body, &answer); err != nil {
		return err
	}
	if w.JSON && len(answer) > 0 {
		return printJSON(std.out, answer)
	}
	return show(answer)
}

type skillsList struct {
	whose
}

// Run lists the skills that the user's tasks can use.
func (s skillsList) Run(ctx context.Context, c *Config, std streams) error {
	return s.with(ctx, c, std, http.MethodGet, "/skills?"+url.Values{"userId": {s.User}}.Encode(), nil, func(answer json.RawMessage) error {
		return printSkills(std.out, answer)
	})
}

func printSkills(out io.Writer, answer json.RawMessage) error {
	var list struct{ Skills []skill }
	if err := json.Unmarshal(answer, &list); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range list.Skills {
		fits := ""
		if k.Confidence != nil {
			fits = fmt.Sprintf("%3.0f %%\t", *k.Confidence*100)
		}
		about := visible(firstLine(k.Description, 80))
		if state := k.state(); state != "" {
			about += " (" + state + ")"
		}
		fmt.Fprintf(w, "%s%s\t%s\n", fits, k.ID, about)
	}
	return w.Flush()
}

type skillsSearch struct {
	Task string `arg:"" help:"What is to be done, in a task's words."`
	whose
}

// Run ranks the skills. A task is answered by a skill from 60 % on.
func (s skillsSearch) Run(ctx context.Context, c *Config, std streams) error {
	query := url.Values{"userId": {s.User}, "query": {s.Task}}
	return s.with(ctx, c, std, http.MethodGet, "/skills?"+query.Encode(), nil, func(answer json.RawMessage) error {
		return printSkills(std.out, answer)
	})
}

type skillsShow struct {
	Name string `arg:"" help:"The skill; shared/name and user/name tell two of one name apart."`
	whose
}

// Run prints a skill's text.
func (s skillsShow) Run(ctx context.Context, c *Config, std streams) error {
	return s.with(ctx, c, std, http.MethodGet, s.skillPath(s.Name, "", nil), nil, func(answer json.RawMessage) error {
		var k skill
		if err := json.Unmarshal(answer, &k); err != nil {
			return fmt.Errorf("decode the answer: %w", err)
		}
		fmt.Fprintf(std.err, "%s, %s\n", k.ID, k.Path)
		if state := k.state(); state != "" {
			fmt.Fprintln(std.err, state)
		}
		text := strings.TrimRight(k.Content, "\n")
		if showsTerminal(std.out) {
			text = visible(text)
		}
		_, err := fmt.Fprintln(std.out, text)
		return err
	})
}

type skillsExport struct {
	Name   string `arg:"" help:"The skill."`
	Output string `short:"o" help:"File to write; by default the skill's name with .zip."`
	User   string `default:"local" help:"User whose skills are meant."`
}

// Run writes the archive.
func (s skillsExport) Run(ctx context.Context, c *Config, std streams) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	data, err := cl.fetch(ctx, whose{User: s.User}.skillPath(s.Name, "/zip", nil))
	if err != nil {
		return err
	}
	file := s.Output
	if file == "" {
		file = s.Name[strings.LastIndexByte(s.Name, '/')+1:] + ".zip"
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	fmt.Fprintf(std.err, "wrote %s\n", file)
	return nil
}

type skillsHistory struct {
	Name string `arg:"" help:"The skill."`
	whose
}

// Run lists the versions, the current one last.
func (s skillsHistory) Run(ctx context.Context, c *Config, std streams) error {
	return s.with(ctx, c, std, http.MethodGet, s.skillPath(s.Name, "/history", nil), nil, func(answer json.RawMessage) error {
		var history struct {
			Versions []struct {
				Number, From       int
				At                 time.Time
				How, Session, Task string
				Tools              map[string]string
			}
		}
		if err := json.Unmarshal(answer, &history); err != nil {
			return fmt.Errorf("decode the answer: %w", err)
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		for _, v := range history.Versions {
			how := v.How
			if v.From > 0 {
				how = fmt.Sprintf("%s to %d", how, v.From)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d tools\n", v.Number, v.At.Format(time.RFC3339), how, cmp.Or(v.Task, v.Session), len(v.Tools))
		}
		return w.Flush()
	})
}

type skillsDiff struct {
	Name string `arg:"" help:"The skill."`
	From int    `help:"The older version; by default the one before."`
	To   int    `help:"The newer version; by default the current one."`
	whose
}

// Run prints unified diffs.
func (s skillsDiff) Run(ctx context.Context, c *Config, std streams) error {
	query := url.Values{"from": {fmt.Sprint(s.From)}, "to": {fmt.Sprint(s.To)}}
	return s.with(ctx, c, std, http.MethodGet, s.skillPath(s.Name, "/diff", query), nil, func(answer json.RawMessage) error {
		return printDiffs(std.out, answer)
	})
}

func printDiffs(out io.Writer, answer json.RawMessage) error {
	var differ struct {
		Files []struct{ File, Diff string }
	}
	if err := json.Unmarshal(answer, &differ); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	for _, f := range differ.Files {
		fmt.Fprint(out, visible(f.Diff))
	}
	if len(differ.Files) == 0 {
		fmt.Fprintln(out, "nothing differs")
	}
	return nil
}

type skillsRollback struct {
	Name   string `arg:"" help:"The skill."`
	Number int    `arg:"" help:"The version, as history lists it."`
	whose
}

// Run saves the earlier version again.
func (s skillsRollback) Run(ctx context.Context, c *Config, std streams) error {
	body := map[string]any{"userId": s.User, "number": s.Number}
	return s.with(ctx, c, std, http.MethodPost, s.skillPath(s.Name, "/rollback", nil), body, func(answer json.RawMessage) error {
		return printSaved(std, answer)
	})
}

// printSaved tells what a skill is now.
func printSaved(std streams, answer json.RawMessage) error {
	var k skill
	if err := json.Unmarshal(answer, &k); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	fmt.Fprintf(std.err, "saved as version %d\n", k.Number)
	_, err := fmt.Fprintln(std.out, k.ID)
	return err
}

type skillsDelete struct {
	Name string `arg:"" help:"The skill."`
	whose
}

// Run removes a skill.
func (s skillsDelete) Run(ctx context.Context, c *Config, std streams) error {
	return s.with(ctx, c, std, http.MethodDelete, s.skillPath(s.Name, "", nil), nil, func(json.RawMessage) error {
		fmt.Fprintf(std.err, "removed %s\n", s.Name)
		return nil
	})
}

type skillsPromote struct {
	Name string `arg:"" help:"The user's skill."`
	Yes  bool   `help:"Promote without asking; for who has seen the difference."`
	whose
}

// Run shows what everybody would get, and asks. What is promoted is what was shown.
func (s skillsPromote) Run(ctx context.Context, c *Config, std streams) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	var review json.RawMessage
	if err := cl.send(ctx, http.MethodGet, s.skillPath(s.Name, "/review", nil), nil, &review); err != nil {
		return err
	}
	if err := printDiffs(std.err, review); err != nil {
		return err
	}
	var reviewed struct{ Hash string }
	if err := json.Unmarshal(review, &reviewed); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	if !s.Yes && !confirmed(std, "Give this to everybody? [y/N] ") {
		return usageError{errors.New("not promoted; answer y, or add --yes")}
	}
	body := map[string]any{"userId": s.User, "hash": reviewed.Hash}
	return s.ask(ctx, cl, std, http.MethodPost, s.skillPath(s.Name, "/promote", nil), body, func(answer json.RawMessage) error {
		return printSaved(std, answer)
	})
}

// confirmed asks for a y on standard input.
func confirmed(std streams, question string) bool {
	fmt.Fprint(std.err, question)
	answer, err := bufio.NewReader(io.LimitReader(std.in, 64)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
