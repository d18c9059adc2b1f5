package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"airlock/ident"
	"airlock/orchestrator/api"
	"airlock/orchestrator/mcpserver"
	"airlock/orchestrator/origins"
)

type mcpCommand struct {
	Serve   mcpServeCommand   `cmd:"" default:"withargs" hidden:""`
	Install mcpInstallCommand `cmd:"" help:"Tell a host of airlock: print its settings, or merge them."`
}

// mcpServeCommand serves the host that has started this process.
type mcpServeCommand struct {
	User string `default:"local" help:"User to work as."`
}

// Run serves until the host closes its end. Standard output belongs to the protocol:
// whatever else of this process writes there goes to standard error.
func (m mcpServeCommand) Run(ctx context.Context, c *Config, std streams) error {
	user, err := ident.ParseUser(m.User)
	if err != nil {
		return usageError{err}
	}
	os.Stdout = os.Stderr
	if done, err := c.throughControl(ctx, user, std); done {
		return err
	}
	log, err := c.newLog(std, zapcore.WarnLevel)
	if err != nil {
		return err
	}
	s, err := c.open(log)
	if err != nil {
		return err
	}
	face, err := s.openMCP(log)
	if err == nil {
		err = face.ServeStdio(ctx, user, std.in, std.out)
	}
	return errors.Join(err, s.Close())
}

// openMCP makes the system an MCP server, which ends before the rest does.
func (s *system) openMCP(log *zap.Logger) (*mcpserver.Server, error) {
	face, err := mcpserver.New(mcpserver.Options{Service: s.service, Version: moduleVersion(), Log: log})
	if err != nil {
		return nil, err
	}
	s.closers = append([]func() error{face.Close}, s.closers...)
	return face, nil
}

// serveMCP serves hosts over HTTP, and those of other processes, until the system
// closes. The listener is closed by then too.
func (c *Config) serveMCP(s *system, callers api.Authenticator, listener net.Listener, log *zap.Logger) error {
	face, err := s.openMCP(log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	o := mcpserver.HTTPOptions{
		Origins:        origins.Policy{Hosts: c.AllowedHosts, Port: strconv.Itoa(c.MCPPort), Origins: c.AllowedOrigins},
		TrustedProxies: proxies, Begun: s.api.Begun,
	}
	if callers != nil { // a nil interface of another type would not be nil
		o.Authenticator = callers
	}
	if c.Auth == "jwt" {
		o.AuthorizationServer = c.AuthIssuer
	}
	server := &http.Server{
		Handler: face.Handler(o), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: zap.NewStdLog(log.Named("mcp")),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with the system
	s.closers = append([]func() error{func() error {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		err := errors.Join(face.Close(), server.Shutdown(ctx)) // streams end with their sessions
		if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
			err = errors.Join(err, failed)
		}
		return err
	}}, s.closers...)
	return c.serveControl(s, face, log)
}

// Bounds of what a client of the MCP listener may keep open. Answers are bounded write
// by write.
const (
	headerTime = 10 * time.Second
	readTime   = time.Minute
	idleTime   = 2 * time.Minute
	maxHeader  = 16 << 10
)

// parseProxies reads addresses and ranges of them.
func parseProxies(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range list {
		if addr, err := netip.ParseAddr(text); err == nil {
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("TRUSTED_PROXIES has %q; it takes addresses and ranges such as 10.0.0.1 and 10.0.0.0/8", text)}
		}
		all = append(all, prefix)
	}
	return all, nil
}

// listenMCP opens the listener of the MCP server, whose port may be picked now.
func (c *Config) listenMCP() (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.MCPPort)))
	if err != nil {
		return nil, fmt.Errorf("listen for MCP: %w; MCP_PORT must be one that no other program has", err)
	}
	c.MCPPort = listener.Addr().(*net.TCPAddr).Port
	return listener, nil
}
