package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// line is the way between a browser and a server, which breaks when it is told to.
type line struct {
	listener net.Listener
	target   string

	work sync.WaitGroup
	mu   sync.Mutex // guards all below
	open map[net.Conn]bool
	down bool // takes no connection
}

// newLine makes a line whose address can be named before its target is served.
func newLine(t *testing.T) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &line{listener: listener, open: map[net.Conn]bool{}}
}

func (l *line) address() string { return l.listener.Addr().String() }

// lead passes connections on to the server at a base URL until the test ends. It returns
// the URL whose paths "cut", "down" and "up" do what they say.
func (l *line) lead(t *testing.T, base string) (control string) {
	t.Helper()
	l.target = strings.TrimPrefix(base, "http://")
	l.work.Go(l.accept)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l.change(strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(func() {
		server.Close()
		_ = l.listener.Close()
		l.change("down")
		l.work.Wait()
	})
	return server.URL
}

// change cuts what is open, except when the line comes up again.
func (l *line) change(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = to == "down"
	if to == "up" {
		return
	}
	for conn := range l.open {
		_ = conn.Close()
	}
	clear(l.open)
}

// accept ends when the listener is closed.
func (l *line) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target)
		if err != nil || !l.enter(near, far) {
			_ = near.Close()
			continue
		}
		l.work.Go(func() { l.copy(near, far) })
		l.work.Go(func() { l.copy(far, near) })
	}
}

// enter notes two connections to cut, or refuses them.
func (l *line) enter(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		_ = far.Close()
		return false
	}
	l.open[near], l.open[far] = true, true
	return true
}

func (l *line) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from) // what ends it is the point of a line
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range []net.Conn{to, from} {
		delete(l.open, conn)
		_ = conn.Close()
	}
}
