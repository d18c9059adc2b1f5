package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"syscall"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator/auth"
	"airlock/servers"
)

type doctorCommand struct {
	JSON bool `help:"Print JSON."`
}

// finding is one line of the doctor's report.
type finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Run reports every part that a task needs, and fails if one is broken.
func (d doctorCommand) Run(ctx context.Context, c *Config, std streams) error {
	cl, err := c.connect(std)
	var findings []finding
	if err != nil {
		findings = []finding{{"configuration", false, err.Error()}}
	} else {
		defer cl.close()
		findings = c.examine(ctx, cl.system)
	}
	err = nil
	if d.JSON {
		err = printJSON(std.out, findings)
	} else {
		for _, f := range findings {
			mark := "ok  "
			if !f.OK {
				mark = "FAIL"
			}
			fmt.Fprintf(std.out, "%s  %-22s %s\n", mark, f.What, f.Detail)
		}
	}
	if err == nil && slices.ContainsFunc(findings, func(f finding) bool { return !f.OK }) {
		return errReported
	}
	return err
}

func (c *Config) examine(ctx context.Context, s *system) []finding {
	findings := []finding{{"data folder", true, c.DataDir}, {"catalog", true, c.Catalog}}
	findings = append(findings, c.examineStore(s), c.examineModel(), c.examineCallers(ctx, s))
	findings = append(findings, c.examinePorts(ctx)...)
	checks := s.service.Check(ctx)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		f := finding{What: name, OK: checks[name] == nil, Detail: "works"}
		if !f.OK {
			f.Detail = checks[name].Error()
		}
		findings = append(findings, f)
	}
	findings = append(findings, examineLocks(ctx, s)...)
	findings = append(findings, examineServers(ctx, s)...)
	if _, err := exec.LookPath("docker"); err != nil {
		findings = append(findings, finding{"docker", true, "not found: scripts run in the embedded sandbox, JavaScript only"})
	}
	return findings
}

func (c *Config) examineStore(s *system) finding {
	if c.NATSURL == "" {
		return finding{"store", true, "in the data folder; NATS_URL names an external one"}
	}
	detail := fmt.Sprintf("at NATS_URL, which %d other processes use now", len(s.members.Others()))
	if c.PeerURL == "" {
		detail += "; without PEER_URL the others cannot pass requests on to this one"
	}
	return finding{"store", true, detail} // it was reached, or nothing would have opened
}

// examineCallers tells who may call the API.
func (c *Config) examineCallers(ctx context.Context, s *system) finding {
	callers, err := c.openCallers(ctx, s, zap.NewNop())
	if err != nil {
		return finding{"callers", false, err.Error()}
	}
	keys, ok := callers.(*auth.Keys)
	switch {
	case callers == nil:
		return finding{"callers", true, "everybody on this machine, as any user; AUTH=keys or jwt tells them apart"}
	case !ok:
		return finding{"callers", true, "tokens for " + c.AuthAudience + ", with the keys from AUTH_JWKS_URL"}
	}
	all, err := keys.List(ctx)
	switch {
	case err != nil:
		return finding{"callers", false, err.Error()}
	case len(all) == 0:
		return finding{"callers", true, "nobody yet: make a key with airlock keys create USER"}
	}
	return finding{"callers", true, fmt.Sprintf("holders of %d API keys", len(all))}
}

// examinePorts looks whether serve could listen. A port that is taken is no failure: it
// may be by the server that runs.
func (c *Config) examinePorts(ctx context.Context) []finding {
	var findings []finding
	for _, p := range []struct {
		what string
		port int
	}{{"port of the API", c.Port}, {"port of MCP", c.MCPPort}} {
		address := net.JoinHostPort(c.Host, strconv.Itoa(p.port))
		f := finding{p.what, true, address + " is free"}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			f.Detail = address + " is taken, by a running server or by another program"
		case err != nil:
			f.OK, f.Detail = false, err.Error()
		case p.port == 0:
			f.Detail = c.Host + ", any free one"
		}
		if err == nil {
			_ = listener.Close()
		}
		findings = append(findings, f)
	}
	return findings
}

func (c *Config) examineModel() finding {
	m, err := c.chooseModel()
	if err != nil {
		return finding{"model", false, err.Error()}
	}
	if m.provider == "skillmatch" {
		return finding{"model", true, "none: tasks are answered by skills; set ANTHROPIC_API_KEY, OPENAI_API_KEY or LLM_BASE_URL for a model"}
	}
	return finding{"model", true, m.String()}
}

// examineLocks tells what holds the embedded sandbox's worker beside the engine's
// own walls. A lock that the system does not have is no failure.
func examineLocks(ctx context.Context, s *system) []finding {
	locks, err := s.wasm.Locks(ctx)
	if err != nil {
		return []finding{{"locks of the worker", false, err.Error()}}
	}
	var findings []finding
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		findings = append(findings, finding{"worker " + name, true, locks[name]})
	}
	return findings
}

// examineServers starts each enabled server by asking it for its tools.
func examineServers(ctx context.Context, s *system) []finding {
	tools, faults := s.manager.Tools(ctx, servers.Caller{User: "local", Session: ident.NewSession()})
	count := map[string]int{}
	for _, t := range tools {
		count[t.Server]++
	}
	var findings []finding
	for _, name := range slices.Sorted(maps.Keys(count)) {
		findings = append(findings, finding{"server " + name, true, fmt.Sprintf("%d tools", count[name])})
	}
	for _, f := range faults {
		findings = append(findings, finding{"server " + f.Server, false, f.Err.Error()})
	}
	return findings
}
