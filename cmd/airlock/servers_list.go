package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"airlock/servers"
)

type serversList struct {
	JSON bool `help:"Print JSON."`
}

// The states of a server as the commands name them.
const (
	stateOff     = "off"     // not enabled
	stateReady   = "ready"   // can be started
	stateMissing = "missing" // cannot: Detail says what is missing
	stateWorks   = "works"   // was started and listed its tools
	stateFails   = "fails"   // was started in vain
)

// serverLine is one server in a list or a report.
type serverLine struct {
	Name        string   `json:"name"`
	Enabled     bool     `json:"enabled"`
	State       string   `json:"state"`
	Category    string   `json:"category,omitempty"`
	Source      string   `json:"source"`
	Instance    string   `json:"instance"`
	Requires    []string `json:"requires,omitempty"`
	Description string   `json:"description,omitempty"`
	// Tools, Called and Detail are of a server that was tried.
	Tools  *int   `json:"tools,omitempty"`
	Called string `json:"called,omitempty"`
	Detail string `json:"detail,omitempty"`
}

func lineOf(e servers.Entry) serverLine {
	return serverLine{Name: e.Name, Enabled: e.Enabled, Category: e.Category, Source: e.Source(), Instance: e.Instance,
		Requires: e.Requires, Description: e.Description}
}

// Run lists every entry without starting any.
func (l serversList) Run(_ context.Context, c *Config, std streams) error {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err != nil {
		return usageError{err}
	}
	var lines []serverLine
	for _, e := range catalog.Entries() {
		line := lineOf(e)
		line.State = stateOff
		if e.Enabled {
			line.State, line.Detail = readiness(catalog, e, c)
		}
		lines = append(lines, line)
	}
	if l.JSON {
		return printJSON(std.out, lines)
	}
	for _, line := range lines {
		fmt.Fprintf(std.out, "%-22s %-8s %s\n", line.Name, line.State, firstLine(line.Description, 100))
		if line.Detail != "" {
			fmt.Fprintf(std.out, "%31s %s\n", "", line.Detail)
		}
	}
	return nil
}

// readiness tells what stands in the way of a server, without starting it.
func readiness(catalog *servers.Catalog, e servers.Entry, c *Config) (state, detail string) {
	if e.Transport == "builtin" {
		return stateReady, ""
	}
	one, err := catalog.Only(e.Name)
	if err != nil {
		return stateMissing, err.Error()
	}
	m, err := servers.New(servers.Options{Catalog: one, Environ: os.LookupEnv, CacheDir: c.cacheDir()})
	if err == nil {
		err = errors.Join(m.Missing(e.Name), m.Close())
	}
	if err != nil {
		return stateMissing, reason(err, e.Name)
	}
	return stateReady, ""
}

// reason is an error in a report that names the server already.
func reason(err error, server string) string {
	return strings.TrimPrefix(err.Error(), fmt.Sprintf("start server %q: ", server))
}
