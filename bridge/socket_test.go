package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"airlock/servers"
)

// socket serves the rig's session on a real unix socket and returns its path.
func (r *rig) socket() string {
	r.tb.Helper()
	dir, err := os.MkdirTemp("", "bridge") // short: the path of a socket has 108 bytes at most
	if err != nil {
		r.tb.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		r.tb.Fatal(err)
	}
	server := &http.Server{Handler: r.bridge.Handler(r.grant.Session), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	r.tb.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return path
}

func socketClient(tb testing.TB, path string) *http.Client {
	tb.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
		MaxIdleConnsPerHost: 64,
	}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// raw sends bytes as they are and returns the status of each answer until the
// connection closes.
func raw(tb testing.TB, path, text string) []int {
	tb.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, text) }() // ends with the connection
	var statuses []int
	in := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses
		}
		statuses = append(statuses, resp.StatusCode)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
			return statuses
		}
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := socketClient(t, r.socket())
	for _, tc := range []struct{ method, path, body string }{
		{http.MethodGet, "/v1/tools?query=find", ""}, {http.MethodGet, "/v1/tools/shop__find", ""}, {http.MethodPost, "/v1/tools/shop__find/call", `{"arguments":{"a":1}}`},
	} {
		req := r.request(tc.method, tc.path, tc.body)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, same := r.do(tc.method, tc.path, tc.body); resp.StatusCode != http.StatusOK || string(body) != same {
			t.Errorf("%s: %d %s; in process %s", tc.path, resp.StatusCode, body, same)
		}
		if got := resp.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
	}
}

// Requests that two readers could understand differently are refused, and nothing
// that follows on the connection is read.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := r.socket()
	auth := "Authorization: Bearer " + r.access.Token() + "\r\n"
	post := "POST /v1/tools/shop__find/call HTTP/1.1\r\nHost: b\r\n"
	smuggled := post + auth + "Content-Length: 2\r\n\r\n{}"
	for name, tc := range map[string]struct {
		request string
		want    int
	}{
		"a plain request":                 {post + auth + "Content-Length: 2\r\nConnection: close\r\n\r\n{}", 200},
		"both lengths":                    {post + auth + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"chunked":                         {post + auth + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
		"an unknown encoding":             {post + auth + "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 501},
		"two lengths":                     {post + auth + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		"a length that is none":           {post + auth + "Content-Length: +2\r\n\r\n{}", 400},
		"two tokens":                      {post + auth + "Authorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}", 400},
		"two types":                       {post + auth + "Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 400},
		"two hosts":                       {post + auth + "Host: c\r\nContent-Length: 2\r\n\r\n{}", 400},
		"no host":                         {"POST /v1/tools/shop__find/call HTTP/1.1\r\n" + auth + "Content-Length: 2\r\n\r\n{}", 400},
		"a space before the colon":        {post + auth + "Content-Length : 2\r\n\r\n{}", 400},
		"a folded header":                 {post + "X: a\r\n b\r\n" + auth + "Transfer-Encoding : chunked\r\n\r\n", 400},
		"an encoded body":                 {post + auth + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 400},
		"another protocol":                {post + auth + "Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n{}", 400},
		"text":                            {post + auth + "Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 400},
		"a path with NUL":                 {"GET /v1/tools/a%00b HTTP/1.1\r\nHost: b\r\nConnection: close\r\n" + auth + "\r\n", 400},
		"no token, and a request after":   {post + "Content-Length: 2\r\n\r\n{}", 401},
		"a body over the limit, expected": {post + auth + "Expect: 100-continue\r\nContent-Length: 1073741824\r\n\r\n", 413},
		"a body over the limit, begun":    {post + auth + "Content-Length: 1073741824\r\n\r\n" + strings.Repeat(" ", 1<<20), 413},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(r.up.called())
			statuses := raw(t, path, tc.request+map[bool]string{true: smuggled, false: ""}[tc.want >= 400])
			if len(statuses) != 1 || statuses[0] != tc.want {
				t.Errorf("got %v, want %d and the end of the connection", statuses, tc.want)
			}
			if after := len(r.up.called()); tc.want != 200 && after != before {
				t.Error("a call got through")
			}
		})
	}
}

// Slow clients are given up, without holding one of the execution's places for
// longer than a transfer may take.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options, _ *Grant) { o.Limits.TransferTime, o.Limits.Concurrent = 300*time.Millisecond, 2 })
	path := r.socket()
	head := "POST /v1/tools/shop__find/call HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer " + r.access.Token() + "\r\nContent-Length: 100\r\n\r\n{"
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if got := raw(t, path, head); len(got) != 1 || got[0] != http.StatusRequestTimeout {
				t.Errorf("a slow client got %v", got)
			}
		})
	}
	all.Wait()
	if status, body := r.call("shop__find", `{}`); status != http.StatusOK {
		t.Errorf("the next call: %d %s", status, body)
	}
}

// A client that goes away ends its call.
func TestClientThatLeaves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	began, ended := make(chan struct{}), make(chan struct{})
	r.up.answer = func(ctx context.Context, _, _ string) (servers.Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return servers.Result{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithCancel(t.Context())
	req := r.request(http.MethodPost, "/v1/tools/shop__find/call", `{}`).WithContext(ctx)
	client := socketClient(t, r.socket())
	failed := make(chan error, 1)
	go func() {
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	<-began
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the call goes on")
	}
	if err := <-failed; err == nil {
		t.Error("the client got an answer")
	}
}

// A thousand calls at once over the socket, with a revoke in the middle, leave
// nothing behind.
func TestSocketUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client := socketClient(t, r.socket())
	var reached atomic.Int32
	half := make(chan struct{})
	r.up.answer = func(_ context.Context, _, arguments string) (servers.Result, error) {
		if reached.Add(1) == 500 {
			close(half)
		}
		return text(arguments), nil
	}
	var all sync.WaitGroup
	var odd atomic.Int32
	gate := make(chan struct{}, 64) // connections at once
	for i := range 1000 {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			status, err := post(client, r.access.Token(), fmt.Sprintf(`{"arguments":{"i":%d}}`, i))
			if err == nil && status != http.StatusOK && status != http.StatusUnauthorized && status != http.StatusServiceUnavailable {
				odd.Add(1)
			}
		})
	}
	<-half
	r.access.Revoke()
	after := reached.Load()
	all.Wait()
	if odd.Load() != 0 || reached.Load() != after {
		t.Errorf("%d odd answers, %d calls after the end", odd.Load(), reached.Load()-after)
	}
}

func post(client *http.Client, token, body string) (int, error) {
	req, err := http.NewRequest(http.MethodPost, "http://bridge/v1/tools/shop__echo/call", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, json.NewDecoder(resp.Body).Decode(new(any))
}
