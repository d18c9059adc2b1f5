package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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
		return fmt.Errorf("listen: %w; is another airlock running? set PORT to use another port", err)
	}
	defer listener.Close()
	c.Port = listener.Addr().(*net.TCPAddr).Port
	s, err := c.open(log)
	if err != nil {
		return err
	}
	m, err := c.chooseModel()
	if err != nil {
		return err
	}
	log.Info("airlock is serving", zap.String("url", "http://"+listener.Addr().String()), zap.String("model", m.String()), zap.String("catalog", c.Catalog))
	log.Warn("no authentication: everybody on this machine may use this server and see the values of every user")
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

func (m model) String() string {
	if m.name == "" {
		return m.provider
	}
	return m.provider + "/" + m.name
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
