package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator/mcpserver"
)

// controlSocket is where a serving process takes in other processes of airlock on the
// same data folder: only one may have the store. Whoever can open it can read all of
// the folder anyway, so it asks for no credential.
func (c *Config) controlSocket() string { return filepath.Join(c.DataDir, "control.sock") }

// controlRequest is the line that a process begins with. What follows is a host's end
// of the MCP connection.
type controlRequest struct {
	MCP bool       `json:"mcp"`
	As  ident.User `json:"as"`
}

const (
	controlTime  = 5 * time.Second // for the first line
	maxControl   = 1 << 10         // bytes of it
	maxSocketLen = 100             // bytes of a path that systems take for a socket
)

// serveControl takes in other processes until the system closes.
func (c *Config) serveControl(s *system, face *mcpserver.Server, log *zap.Logger) error {
	path := c.controlSocket()
	if len(path) > maxSocketLen {
		log.Warn("the path of DATA_DIR is too long for a socket: airlock mcp beside this server has a store of its own", zap.Int("bytes", len(path)))
		return nil
	}
	listener, err := listenControl(path)
	if err != nil {
		return fmt.Errorf("listen for other processes of airlock: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			work.Go(func() {
				if err := control(ctx, face, conn); err != nil {
					log.Warn("another process of airlock could not be served", zap.Error(err))
				}
			})
		}
	})
	s.closers = append([]func() error{func() error {
		cancel()
		err := errors.Join(os.Remove(path), listener.Close())
		work.Wait()
		return err
	}}, s.closers...)
	return nil
}

// listenControl makes the socket where nobody else can reach it, and moves it to its
// place when only its owner can open it.
func listenControl(path string) (net.Listener, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".c")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// control serves one process.
func control(ctx context.Context, face *mcpserver.Server, conn net.Conn) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) }) // wakes what reads
	defer stop()
	if err := conn.SetReadDeadline(time.Now().Add(controlTime)); err != nil {
		return err
	}
	r := bufio.NewReaderSize(conn, maxControl)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read what it wants: %w", err)
	}
	var request controlRequest
	if err := json.Unmarshal(line, &request); err != nil || !request.MCP {
		return errors.New("it asks for nothing that is known here; is it of the same version?")
	}
	user, err := ident.ParseUser(string(request.As))
	if err != nil {
		return err
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	return face.ServeStdio(ctx, user, r, conn)
}

// throughControl connects a host to the process that serves from the data folder. It
// reports whether there is one.
func (c *Config) throughControl(ctx context.Context, user ident.User, std streams) (bool, error) {
	dialed, err := (&net.Dialer{}).DialContext(ctx, "unix", c.controlSocket())
	if err != nil {
		return false, nil // none, or one that has crashed
	}
	conn := dialed.(*net.UnixConn)
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	line, err := json.Marshal(controlRequest{MCP: true, As: user})
	if err == nil {
		_, err = conn.Write(append(line, '\n'))
	}
	if err != nil {
		return true, fmt.Errorf("ask the airlock that serves from %s: %w", c.DataDir, err)
	}
	go func() { // ends with the host's end, or at the latest with this process
		_, _ = io.Copy(conn, std.in)
		_ = conn.CloseWrite()
	}()
	if _, err := io.Copy(std.out, conn); err != nil && ctx.Err() == nil {
		return true, fmt.Errorf("the airlock that serves from %s: %w", c.DataDir, err)
	}
	return true, nil
}
