package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"airlock/ident"
	"airlock/pii"
	"airlock/servers"
)

type serversStart struct {
	Name string `arg:"" help:"The server."`
	User string `default:"local" help:"User to start it for."`
	JSON bool   `help:"Print JSON."`
}

// Run starts a server whether it is enabled or not.
func (s serversStart) Run(ctx context.Context, c *Config, std streams) error {
	c.only = []string{s.Name}
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	begun := time.Now()
	done := progress(std, "starting "+s.Name)
	tools, err := cl.started(ctx, s.Name, s.User)
	done()
	if err != nil {
		return c.explained(err, std)
	}
	if s.JSON {
		return printJSON(std.out, tools)
	}
	fmt.Fprintf(std.out, "%s works: %d tools, %.1f s\n", s.Name, len(tools), time.Since(begun).Seconds())
	for _, t := range tools {
		fmt.Fprintf(std.out, "%-40s %s\n", t.Name, firstLine(t.Description, 100))
	}
	return nil
}

type serversLogs struct {
	Name string `arg:"" help:"The server."`
	User string `default:"local" help:"User to start it for."`
}

// Run shows the end of a server's standard error, with tokens in place of
// personal data. That of a server which does not start is what it died of.
func (l serversLogs) Run(ctx context.Context, c *Config, std streams) error {
	c.only = []string{l.Name}
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	done := progress(std, "starting "+l.Name)
	text, failed := cl.system.manager.Output(ctx, servers.Caller{User: ident.User(l.User), Session: ident.NewSession()}, l.Name)
	done()
	var known *servers.Error
	if errors.As(failed, &known) {
		text = known.Detail
	}
	shown, err := c.masked(text, l.Name)
	if err != nil {
		return err
	}
	if shown = strings.TrimRight(shown, "\n"); shown != "" {
		fmt.Fprintln(std.out, shown)
	} else if failed == nil {
		fmt.Fprintf(std.err, "airlock: server %s wrote nothing to its standard error\n", l.Name)
	}
	return failed
}

// explained shows what a server said before it failed.
func (c *Config) explained(err error, std streams) error {
	var known *servers.Error
	if !errors.As(err, &known) {
		return err
	}
	shown, maskErr := c.masked(known.Detail, known.Server)
	if shown = strings.TrimSpace(shown); shown != "" {
		fmt.Fprintf(std.err, "%s\n", shown)
	}
	return errors.Join(err, maskErr)
}

// masked puts tokens in place of personal data.
func (c *Config) masked(text pii.Raw, server string) (string, error) {
	d, err := c.openDetector()
	if err != nil {
		return "", err
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: d})
	if err != nil {
		return "", err
	}
	tokenized, err := v.Tokenize(text, pii.OriginServer(server))
	if err != nil {
		return "", err
	}
	return tokenized.String(), nil
}
