package api

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// serveWithPage serves a page on a port and gives its base URL. It logs to the first
// logger, if there is one.
func serveWithPage(t *testing.T, page http.HandlerFunc, log ...*zap.Logger) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s, err := New(Options{
		Service: &fakeService{}, Port: port, Rights: all, Log: append(log, nil)[0],
		Page: func(*http.Client, string) (http.Handler, error) { return page, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }() // ends with Shutdown
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func getPage(t *testing.T, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func TestPageAnswersWithItsOwnHeaders(t *testing.T) {
	t.Parallel()
	base := serveWithPage(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ui/broken" {
			panic("broken")
		}
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, r.URL.Path+"?"+r.URL.RawQuery)
	})
	answer := getPage(t, base+"/ui/x%2Fy?q=1")
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusTeapot || string(text) != "/ui/x/y?q=1" {
		t.Errorf("answered %d %q, %v", answer.StatusCode, text, err)
	}
	if csp := answer.Header.Values("Content-Security-Policy"); len(csp) != 1 || csp[0] != "default-src 'self'" {
		t.Errorf("the policy is %q", csp)
	}
	if cookies := answer.Header.Values("Set-Cookie"); len(cookies) != 2 {
		t.Errorf("the cookies are %q", cookies)
	}
	if answer := getPage(t, base+"/ui/broken"); answer.StatusCode != http.StatusInternalServerError {
		t.Errorf("a panic answers %d", answer.StatusCode)
	}
}

// TestFailedRequestsAreFoundInTheLog has a handler panic: each line of it has the id
// that its caller is told.
func TestFailedRequestsAreFoundInTheLog(t *testing.T) {
	t.Parallel()
	core, lines := observer.New(zap.DebugLevel)
	base := serveWithPage(t, func(http.ResponseWriter, *http.Request) { panic("broken") }, zap.New(core))
	ids := map[any]bool{}
	for range 2 {
		body, err := io.ReadAll(getPage(t, base+"/ui/x").Body)
		if err != nil {
			t.Fatal(err)
		}
		told := lines.TakeAll()
		if len(told) < 2 {
			t.Fatalf("%d lines were written", len(told))
		}
		for _, line := range told {
			id, _ := line.ContextMap()["request"].(string)
			if ids[id] = true; id == "" || !strings.Contains(string(body), id) {
				t.Errorf("%q has %v, the answer says %s", line.Message, line.ContextMap(), body)
			}
		}
	}
	if len(ids) != 2 {
		t.Errorf("two requests have the ids %v", ids)
	}
}

func TestPageStreamsUntilItsReaderIsGone(t *testing.T) {
	t.Parallel()
	gone, next := make(chan struct{}), make(chan struct{})
	base := serveWithPage(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for _, part := range []string{"one\n", "two\n"} {
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
			<-next
		}
		<-r.Context().Done()
	})
	answer := getPage(t, base+"/ui/stream")
	lines := bufio.NewReader(answer.Body)
	for _, want := range []string{"one\n", "two\n"} {
		if line, err := lines.ReadString('\n'); line != want || err != nil {
			t.Fatalf("read %q, %v, want %q while the page still runs", line, err, want)
		}
		next <- struct{}{}
	}
	_ = answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the page's handler does not learn that its reader is gone")
	}
}

func TestWithoutAPageThereIsNone(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{}, all)
	if status, _, body := send("GET", "/", ""); status != http.StatusNotFound || !strings.Contains(body, "unknown_route") {
		t.Errorf("answered %d %s", status, body)
	}
}
