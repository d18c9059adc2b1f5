package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"airlock/bridge"
	"airlock/orchestrator/docstring"
	"airlock/pii"
	"airlock/servers"
	"airlock/skills"
)

// ErrBinary is returned for a file that is not text.
var ErrBinary = errors.New("the file is not text")

// maxToldFile bounds the files that are read to be told, in bytes.
const maxToldFile = 8 << 20

// FilePart is what a model is told of a file.
type FilePart struct {
	// Text is the lines that were asked for, cut at the model's share.
	Text pii.Tokenized
	// First is the number of the first line told, counted from 0, and Lines how many
	// are told; a line that was cut counts. Total is how many the file has.
	First, Lines, Total int
	// Cut says that the last line told is not whole.
	Cut bool
}

// ReadFile tells lines of a text file of the session: count of them, or all if that
// is 0, from the one with the number first, counted from 0. Errors wrap ErrBinary or
// those of package workspace, which hold no paths.
func (c *Conversation) ReadFile(path string, first, count int) (FilePart, error) {
	session, leave, err := c.enter()
	if err != nil {
		return FilePart{}, err
	}
	defer leave()
	text, err := session.readText(path)
	if err != nil {
		return FilePart{}, err
	}
	lines := slices.Collect(pii.Lines(text))
	first = min(max(first, 0), len(lines))
	end := len(lines)
	if count > 0 {
		end = min(first+count, end)
	}
	return partOf(lines, first, end, c.service.opts.Limits.ModelBytes), nil
}

// partOf joins as many of the lines as fit into the share.
func partOf(lines []pii.Tokenized, first, end, share int) FilePart {
	part := FilePart{First: first, Total: len(lines)}
	var told []pii.Tokenized
	for _, line := range lines[first:end] {
		if share -= line.Len() + 1; share < 0 {
			if part.Lines == 0 {
				told, part.Lines, part.Cut = []pii.Tokenized{pii.Cut(line, share+line.Len()+1)}, 1, true
			}
			break
		}
		told = append(told, line, pii.Static("\n"))
		part.Lines++
	}
	part.Text = pii.Join(told...)
	return part
}

// readText reads a text file as a model may read it.
func (s *session) readText(path string) (pii.Tokenized, error) {
	real, err := bridge.ScriptSource(s.vault, path)
	if err != nil {
		return noText, err
	}
	data, err := s.files.ReadFile(real, maxToldFile)
	if err != nil {
		return noText, err
	}
	if !isText(data) {
		return noText, ErrBinary
	}
	text, err := s.vault.Tokenize(pii.NewRaw(string(data)), pii.OriginScript)
	if err != nil {
		return noText, fmt.Errorf("tokenize a file: %w", err)
	}
	return text, nil
}

// Written is what came of writing a file.
type Written struct {
	Artifacts []Artifact
	// Saved and Refused tell what became of a change under /skills.
	Saved   []string
	Refused []RefusedSkill
}

// WriteFile creates or replaces a file of the session with a text that a model wrote.
// In a sealed session personal values in it become tokens, as in everything that
// scripts see. It waits for the session's script.
func (c *Conversation) WriteFile(ctx context.Context, path, content string) (Written, error) {
	session, leave, err := c.enter()
	if err != nil {
		return Written{}, err
	}
	defer leave()
	unlock, err := session.executions.lock(ctx)
	if err != nil {
		return Written{}, err
	}
	defer unlock()
	s := c.service
	before, err := s.opts.Workspaces.List(session.key)
	if err != nil {
		return Written{}, fmt.Errorf("list artifacts: %w", err)
	}
	if err := session.writeText(path, content); err != nil {
		return Written{}, err
	}
	report, err := s.opts.Skills.Commit(ctx, session.key, skills.Origin{
		Session: session.id, Tools: s.toolPrints(servers.Caller{User: session.user, Session: session.id}),
	})
	if err != nil {
		return Written{}, fmt.Errorf("keep the skill that was written: %w", err)
	}
	if err := s.keepFiles(ctx, session); err != nil {
		return Written{}, err
	}
	made, err := s.newArtifacts(session, before)
	if err != nil {
		return Written{}, err
	}
	if err := s.kept.keep(ctx, session, made); err != nil {
		return Written{}, fmt.Errorf("keep what the artifact needs: %w", err)
	}
	written := Written{Saved: report.Saved}
	for _, refused := range report.Refused {
		written.Refused = append(written.Refused, RefusedSkill{Name: refused.Name, Reason: refused.Reason})
	}
	written.Artifacts, err = tellArtifacts(session.vault, made, script{})
	return written, err
}

// writeText writes a model's text as scripts are to find it.
func (s *session) writeText(path, content string) error {
	for _, text := range []*string{&path, &content} {
		if s.vault.Mode() == pii.Open {
			real, err := bridge.ScriptSource(s.vault, *text)
			if err != nil {
				return err
			}
			*text = real
			continue
		}
		told, err := s.vault.Tokenize(pii.NewRaw(*text), pii.OriginScript)
		if err != nil {
			return fmt.Errorf("tokenize a file that a model writes: %w", err)
		}
		*text = told.String()
	}
	return s.files.WriteFile(path, []byte(content))
}

// maxNames bounds the functions that are named where one is not found.
const maxNames = 30

// Docstring tells the signature of a function, or of a tool declared in /tools, and
// what its source file says of it. The error wraps fs.ErrNotExist if the file has
// none of that name, and says which it has.
func (c *Conversation) Docstring(path, function string) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	source, err := session.readText(path)
	if err != nil {
		return noText, err
	}
	text, ok := docstring.Find(path, source.String(), function)
	if !ok {
		names := docstring.Names(path, source.String(), maxNames)
		return noText, fmt.Errorf("no function of that name: %w; the file has %s", fs.ErrNotExist, strings.Join(names, ", "))
	}
	told, err := session.vault.Tokenize(pii.NewRaw(text), pii.OriginScript)
	return pii.Cut(told, c.service.opts.Limits.ModelBytes), err
}
