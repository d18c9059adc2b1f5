package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"airlock/ident"
	"airlock/orchestrator/api"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/pii/detect"
)

type piiCommand struct {
	Scan       piiScan       `cmd:"" help:"Find personal data in a text on standard input."`
	Tokenize   piiTokenize   `cmd:"" help:"Replace personal data by tokens, from standard input to standard output."`
	Detokenize piiDetokenize `cmd:"" help:"Put the values back in place of tokens."`
	Types      piiTypes      `cmd:"" help:"List what is detected."`
}

type piiScan struct {
	Format  string `default:"text" enum:"text,jsonl" help:"text: one text. jsonl: a line {\"id\",\"text\"} each, answered by {\"id\",\"entities\"}."`
	Offsets string `default:"codepoint" enum:"codepoint,byte" help:"What start and end count."`
	JSON    bool   `help:"Print JSON (jsonl always does)."`
}

// maxPIIText bounds what is read at once.
const maxPIIText = 256 << 20

// entity is one find, as scan prints it. The value is the caller's own text.
type entity struct {
	Type  detect.Type `json:"type"`
	Start int         `json:"start"`
	End   int         `json:"end"`
	Value string      `json:"value"`
}

// Run reads, scans and prints.
func (s piiScan) Run(c *Config, std streams) error {
	d, err := c.openDetector()
	if err != nil {
		return err
	}
	if s.Format == "jsonl" {
		return s.lines(d, std)
	}
	text, err := readText(std.in)
	if err != nil {
		return err
	}
	found, err := s.scan(d, text)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(std.out, map[string]any{"entities": found})
	}
	for _, e := range found {
		fmt.Fprintf(std.out, "%d\t%d\t%s\t%q\n", e.Start, e.End, e.Type, e.Value)
	}
	return nil
}

func (s piiScan) lines(d *detect.Detector, std streams) error {
	in := bufio.NewScanner(std.in)
	in.Buffer(make([]byte, 64<<10), maxPIIText)
	out := json.NewEncoder(std.out)
	out.SetEscapeHTML(false)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var line struct {
			ID   json.RawMessage `json:"id"`
			Text *string         `json:"text"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil || line.Text == nil {
			return fmt.Errorf(`line %d is not a JSON object with "id" and "text"`, n)
		}
		found, err := s.scan(d, *line.Text)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := out.Encode(struct {
			ID       json.RawMessage `json:"id"`
			Entities []entity        `json:"entities"`
		}{line.ID, found}); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	return nil
}

func (s piiScan) scan(d *detect.Detector, text string) ([]entity, error) {
	spans, err := d.Find(nil, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	found := []entity{}
	byteAt, pointAt := 0, 0
	point := func(at int) int {
		pointAt += utf8.RuneCountInString(text[byteAt:at])
		byteAt = at
		return pointAt
	}
	for _, span := range spans {
		e := entity{span.Type, span.Start, span.End, text[span.Start:span.End]}
		if s.Offsets == "codepoint" {
			e.Start, e.End = point(span.Start), point(span.End)
		}
		found = append(found, e)
	}
	return found, nil
}

// vaultName is an option of the commands that share a vault across calls.
type vaultName struct {
	Session string `default:"default" help:"Name of the vault, so that a later detokenize finds it."`
}

func (n vaultName) id() (ident.Session, error) {
	if strings.Trim(n.Session, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || len(n.Session) > 64 || n.Session == "" {
		return "", usageError{errors.New("the name of a session takes up to 64 letters, digits, - and _")}
	}
	return ident.Session("cli-" + n.Session), nil
}

type piiTokenize struct{ vaultName }

// Run tokenizes and keeps the vault, sealed, below DATA_DIR.
func (t piiTokenize) Run(ctx context.Context, c *Config, std streams) error {
	id, err := t.id()
	if err != nil {
		return err
	}
	v, keep, err := c.cliVault(ctx, id, true)
	if err != nil {
		return err
	}
	text, err := readText(std.in)
	if err != nil {
		return err
	}
	tokenized, err := v.Tokenize(pii.NewRaw(text), pii.OriginUser)
	if err != nil {
		return fmt.Errorf("tokenize: %w", err)
	}
	if err := keep(); err != nil {
		return err
	}
	_, err = io.WriteString(std.out, tokenized.String())
	return err
}

type piiDetokenize struct{ vaultName }

// Run puts the values back that tokenize took out under the same name.
func (t piiDetokenize) Run(ctx context.Context, c *Config, std streams) error {
	id, err := t.id()
	if err != nil {
		return err
	}
	v, _, err := c.cliVault(ctx, id, false)
	if err != nil {
		return err
	}
	text, err := readText(std.in)
	if err != nil {
		return err
	}
	return api.WriteReal(std.out, v, v.FromModel(text))
}

// cliVault opens the named vault, or makes it if fresh says so; keep saves it.
func (c *Config) cliVault(ctx context.Context, id ident.Session, fresh bool) (_ *pii.Vault, keep func() error, err error) {
	d, err := c.openDetector()
	if err != nil {
		return nil, nil, err
	}
	k, err := c.openKeys()
	if err != nil {
		return nil, nil, err
	}
	kept, err := state.OpenFiles(filepath.Join(c.DataDir, "state"))
	if err != nil {
		return nil, nil, err
	}
	v, err := pii.LoadVault(ctx, kept, id, k.state, pii.VaultOptions{Detector: d})
	if errors.Is(err, fs.ErrNotExist) {
		if !fresh {
			return nil, nil, errors.New("there is no vault of that name; tokenize makes one")
		}
		v, err = pii.NewVault(pii.VaultOptions{Detector: d})
	}
	if err != nil {
		return nil, nil, err
	}
	return v, func() error { return v.Save(ctx, kept, id, k.state) }, nil
}

func readText(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxPIIText+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > maxPIIText {
		return "", fmt.Errorf("standard input is larger than %d bytes; split it", maxPIIText)
	}
	return string(text), nil
}

type piiTypes struct {
	JSON bool `help:"Print JSON."`
}

// Run lists every type, and whether it is on.
func (t piiTypes) Run(c *Config, std streams) error {
	d, err := c.openDetector()
	if err != nil {
		return err
	}
	type line struct {
		Type        detect.Type `json:"type"`
		On          bool        `json:"on"`
		Pack        string      `json:"pack,omitempty"`
		Description string      `json:"description"`
	}
	lines := []line{}
	for _, info := range d.Types() {
		lines = append(lines, line{info.Type, info.On, info.Pack, info.Description})
	}
	if t.JSON {
		return printJSON(std.out, lines)
	}
	for _, l := range lines {
		state := "on"
		if !l.On {
			state = strings.TrimSpace("off " + l.Pack)
		}
		fmt.Fprintf(std.out, "%-22s %-8s %s\n", l.Type, state, l.Description)
	}
	return nil
}
