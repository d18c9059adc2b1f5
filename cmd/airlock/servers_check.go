package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"airlock/servers"
)

type serversCheck struct {
	Names    []string `arg:"" optional:"" help:"Servers to run; all of the catalog by default."`
	Running  bool     `name:"run" help:"Start each server, list its tools and call a harmless one."`
	Probes   string   `type:"existingfile" help:"JSON file that says which tool to call: {\"server\": {\"tool\": \"name\", \"arguments\": {}}}; none for an empty name."`
	Markdown bool     `help:"Print the report as a table in Markdown."`
	JSON     bool     `help:"Print JSON."`
}

// checkReport is what check prints as JSON.
type checkReport struct {
	Catalog  string       `json:"catalog"`
	Warnings []string     `json:"warnings"`
	Servers  []serverLine `json:"servers,omitempty"`
}

// probe is the tool to call for a check.
type probe struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Run validates the file, and its servers with --run. It fails if the file has
// mistakes or a server that could be started does not work.
func (k serversCheck) Run(ctx context.Context, c *Config, std streams) error {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err == nil {
		err = servers.ValidateCatalog(c.Catalog)
	}
	if err != nil {
		return err
	}
	report := checkReport{Catalog: c.Catalog, Warnings: append([]string{}, catalog.Warnings()...)}
	if !k.JSON && !k.Markdown {
		k.printFile(std.out, catalog, report)
	}
	if !k.Running {
		if k.JSON {
			return printJSON(std.out, report)
		}
		return nil
	}
	if report.Servers, err = k.runAll(ctx, catalog, c, std); err != nil {
		return err
	}
	if err := k.print(std.out, report); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Servers, func(l serverLine) bool { return l.State == stateFails }) {
		return errReported
	}
	return nil
}

func (k serversCheck) printFile(out io.Writer, catalog *servers.Catalog, report checkReport) {
	enabled := 0
	for _, e := range catalog.Entries() {
		if e.Enabled {
			enabled++
		}
	}
	for _, w := range report.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	fmt.Fprintf(out, "%s: no mistakes; %d servers, %d enabled\n", report.Catalog, len(catalog.Entries()), enabled)
}

func (k serversCheck) print(out io.Writer, report checkReport) error {
	switch {
	case k.JSON:
		return printJSON(out, report)
	case k.Markdown:
		printMarkdown(out, report.Servers)
	default:
		for _, l := range report.Servers {
			fmt.Fprintf(out, "%-22s %-8s %s\n", l.Name, l.State, l.outcome())
		}
	}
	return nil
}

func (l serverLine) outcome() string {
	var parts []string
	if l.Tools != nil {
		parts = append(parts, fmt.Sprintf("%d tools", *l.Tools))
	}
	if l.Called != "" {
		parts = append(parts, "called "+l.Called)
	}
	if l.Detail != "" {
		parts = append(parts, l.Detail)
	}
	return strings.Join(parts, ", ")
}

// printMarkdown writes the table of docs/SERVERS.md.
func printMarkdown(out io.Writer, lines []serverLine) {
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	fmt.Fprintln(out, "| server | category | package | state | tools | called | needs |\n|---|---|---|---|---|---|---|")
	for _, l := range lines {
		tools, state := "", l.State
		if l.Tools != nil {
			tools = fmt.Sprint(*l.Tools)
		}
		if l.Detail != "" {
			state += ": " + l.Detail
		}
		fmt.Fprintf(out, "| %s | %s | `%s` | %s | %s | %s | %s |\n", l.Name, l.Category, l.Source, cell.Replace(state), tools, l.Called, strings.Join(l.Requires, ", "))
	}
}

func (k serversCheck) runAll(ctx context.Context, catalog *servers.Catalog, c *Config, std streams) ([]serverLine, error) {
	probes, err := k.readProbes()
	if err != nil {
		return nil, err
	}
	if _, err := catalog.Only(k.Names...); err != nil {
		return nil, usageError{err}
	}
	var lines []serverLine
	for _, e := range catalog.Entries() {
		if len(k.Names) > 0 && !slices.Contains(k.Names, e.Name) {
			continue
		}
		line := lineOf(e)
		if line.State, line.Detail = readiness(catalog, e, c); line.State == stateReady {
			done := progress(std, "running "+e.Name)
			p, ok := probes[e.Name]
			err := c.try(ctx, std, &line, p, !ok)
			done()
			if err != nil {
				return nil, err
			}
		}
		lines = append(lines, line)
	}
	return lines, ctx.Err()
}

// checkUser is the user that checks run as.
const checkUser = "check"

// try runs one server and fills in how that went. It calls the probe's tool, or one
// of its choice. Its error is one of airlock.
func (c *Config) try(ctx context.Context, std streams, line *serverLine, p probe, choose bool) error {
	single := *c
	single.only = []string{line.Name}
	cl, err := single.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	tools, err := cl.started(ctx, line.Name, checkUser)
	if err != nil {
		line.State, line.Detail = stateFails, reason(err, line.Name)
		return nil
	}
	count := len(tools)
	line.State, line.Tools = stateWorks, &count
	if choose {
		p = harmless(line.Name, tools)
	}
	if p.Tool == "" {
		return nil
	}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	line.Called = p.Tool
	if err := cl.call(ctx, checkUser, line.Name+"__"+p.Tool, p.Arguments); err != nil {
		line.State, line.Detail = stateFails, reason(err, line.Name)
	}
	return nil
}

// harmless chooses a tool that says it only reads and needs no argument.
func harmless(server string, tools []toolDefinition) probe {
	for _, t := range tools {
		var schema struct {
			Required []string `json:"required"`
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || len(schema.Required) > 0 {
			continue
		}
		if t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly {
			return probe{Tool: strings.TrimPrefix(t.Name, server+"__")}
		}
	}
	return probe{}
}

func (k serversCheck) readProbes() (map[string]probe, error) {
	if k.Probes == "" {
		return nil, nil
	}
	data, err := os.ReadFile(k.Probes)
	if err != nil {
		return nil, fmt.Errorf("read the probes: %w", err)
	}
	var probes map[string]probe
	if err := json.Unmarshal(data, &probes); err != nil {
		return nil, usageError{errors.New(k.Probes + ` is not a JSON object such as {"time": {"tool": "get_current_time", "arguments": {}}}`)}
	}
	return probes, nil
}
