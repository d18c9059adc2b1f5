package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"airlock/orchestrator/api"
	"airlock/orchestrator/auth"
	"airlock/orchestrator/mcpserver"
)

type serveCommand struct{}

// Run serves until ctx ends.
func (serveCommand) Run(ctx context.Context, c *Config, std streams) error {
	log, err := c.newLog(std, zapcore.DebugLevel)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(c.Host, strconv.Itoa(c.Port)))
	if err != nil {
		err = fmt.Errorf("listen: %w; HOST must be an address of this machine, and PORT one that no other program has", err)
		if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) {
			return usageError{err}
		}
		return err
	}
	defer listener.Close()
	c.Port = listener.Addr().(*net.TCPAddr).Port
	hosts, err := c.listenMCP()
	if err != nil {
		return err
	}
	defer hosts.Close()
	c.serving = true
	s, err := c.open(log)
	if err != nil {
		return err
	}
	if err := s.service.Resume(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	callers, err := c.openCallers(ctx, s, log)
	if err == nil {
		err = c.guardAPI(ctx, s, callers, log)
	}
	if err == nil {
		err = c.serveMCP(s, callers, hosts, log)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	m, err := c.chooseModel()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	log.Info("airlock is serving", zap.String("url", "http://"+listener.Addr().String()), zap.String("mcp", "http://"+hosts.Addr().String()+mcpserver.Path), zap.String("model", m.String()), zap.String("catalog", c.Catalog))
	if c.Auth == "none" {
		log.Warn("no authentication: everybody on this machine may use this server and see the values of every user")
	}
	failed := make(chan error, 1)
	go func() { failed <- s.api.Serve(listener) }() // ends with Close
	select {
	case <-ctx.Done():
		log.Info("shutting down")
		return errors.Join(s.Close(), <-failed)
	case err := <-failed:
		_ = s.Close()
		return fmt.Errorf("serve: %w", err)
	}
}

// guardAPI puts the API that others reach in place of the commands' own.
func (c *Config) guardAPI(ctx context.Context, s *system, callers api.Authenticator, log *zap.Logger) (err error) {
	own := s.api
	rate := api.Rate{Most: c.RateLimitMax, Window: time.Duration(c.RateLimitWindowMs) * time.Millisecond}
	if s.api, err = c.newAPI(s, callers, rate, log); err != nil {
		s.api = own
		return err
	}
	return own.Shutdown(ctx)
}

// openCallers makes what tells callers apart, nil where nothing does.
func (c *Config) openCallers(ctx context.Context, s *system, log *zap.Logger) (api.Authenticator, error) {
	switch c.Auth {
	case "keys":
		return auth.NewKeys(s.callers, s.keys.callers)
	case "jwt":
		return auth.NewIssuer(ctx, auth.IssuerOptions{
			JWKSURL: c.AuthJWKSURL, Audience: c.AuthAudience, Issuer: c.AuthIssuer,
			Failed: func(err error) { log.Error("cannot fetch the keys that tokens are signed with", zap.Error(err)) },
		})
	default:
		return nil, nil
	}
}

// newLog writes lines of the configured level, and of least, to standard error;
// for people where that is a terminal.
func (c *Config) newLog(std streams, least zapcore.Level) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(c.LogLevel)
	if err != nil {
		return nil, usageError{fmt.Errorf("LOG_LEVEL: %w", err)}
	}
	return zap.New(zapcore.NewCore(c.logEncoder(std), zapcore.AddSync(std.err), max(level, least))), nil
}

func (c *Config) logEncoder(std streams) zapcore.Encoder {
	pretty := c.LogFormat == "pretty"
	if c.LogFormat == "auto" {
		f, ok := std.err.(*os.File)
		pretty = ok && isTerminal(f)
	}
	if !pretty {
		e := zap.NewProductionEncoderConfig()
		e.EncodeTime = zapcore.RFC3339TimeEncoder
		return zapcore.NewJSONEncoder(e)
	}
	e := zap.NewDevelopmentEncoderConfig()
	e.EncodeLevel = zapcore.CapitalColorLevelEncoder
	e.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05")
	return zapcore.NewConsoleEncoder(e)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
