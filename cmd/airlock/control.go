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

// controlRequest is the line that a process begins with. What follows MCP is a host's
// end of the connection; Erase is answered by a controlAnswer.
type controlRequest struct {
	MCP   bool       `json:"mcp,omitempty"`
	Erase bool       `json:"erase,omitempty"`
	As    ident.User `json:"as"`
}

// controlAnswer is the line that tells what came of a request.
type controlAnswer struct {
	Error string `json:"error,omitempty"`
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
				if err := s.control(ctx, face, conn); err != nil {
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
func (s *system) control(ctx context.Context, face *mcpserver.Server, conn net.Conn) error {
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
	if err := json.Unmarshal(line, &request); err != nil || request.MCP == request.Erase {
		return errors.New("it asks for nothing that is known here; is it of the same version?")
	}
	user, err := ident.ParseUser(string(request.As))
	if err != nil {
		return err
	}
	if request.Erase {
		return s.eraseFor(ctx, user, conn)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	return face.ServeStdio(ctx, user, r, conn)
}

// dialControl tells the process that serves from the data folder what is wanted; nil if
// there is none. The connection ends with ctx; release must be called.
func (c *Config) dialControl(ctx context.Context, request controlRequest) (conn *net.UnixConn, release func(), err error) {
	dialed, err := (&net.Dialer{}).DialContext(ctx, "unix", c.controlSocket())
	if err != nil {
		return nil, nil, nil // none, or one that has crashed
	}
	conn = dialed.(*net.UnixConn)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	release = func() { stop(); _ = conn.Close() }
	line, err := json.Marshal(request)
	if err == nil {
		_, err = conn.Write(append(line, '\n'))
	}
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("ask the airlock that serves from %s: %w", c.DataDir, err)
	}
	return conn, release, nil
}

// throughControl connects a host to the process that serves from the data folder. It
// reports whether there is one.
func (c *Config) throughControl(ctx context.Context, user ident.User, std streams) (bool, error) {
	conn, release, err := c.dialControl(ctx, controlRequest{MCP: true, As: user})
	if conn == nil {
		return err != nil, err
	}
	defer release()
	go func() { // ends with the host's end, or at the latest with this process
		_, _ = io.Copy(conn, std.in)
		_ = conn.CloseWrite()
	}()
	if _, err := io.Copy(std.out, conn); err != nil && ctx.Err() == nil {
		return true, fmt.Errorf("the airlock that serves from %s: %w", c.DataDir, err)
	}
	return true, nil
}
