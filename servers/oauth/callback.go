package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// answers waits at a loopback address for the browser to come back.
type answers struct {
	listener  net.Listener
	server    *http.Server
	authority authority
	state     string // set by expect before anybody is sent here
	result    chan answer
	done      chan struct{}
}

type answer struct {
	code string
	err  error
}

// callbackPath is registered with the port, so that nothing else a browser asks
// of a local port is taken for an answer.
const callbackPath = "/callback"

func listen(ctx context.Context, port int, a authority) (*answers, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser's answer: %w; choose another oauth.port in catalog.json", err)
	}
	w := &answers{listener: listener, authority: a, result: make(chan answer, 1), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, w.serve)
	w.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10}
	return w, nil
}

func (w *answers) address() string { return "http://" + w.listener.Addr().String() + callbackPath }

// expect begins to take answers.
func (w *answers) expect(state string) {
	w.state = state
	go func() { // ends with close, which waits for it
		defer close(w.done)
		_ = w.server.Serve(w.listener)
	}()
}

// close ends everything; what is being answered is let finish.
func (w *answers) close() {
	if w.state == "" {
		_ = w.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if w.server.Shutdown(ctx) != nil {
		_ = w.server.Close()
	}
	<-w.done
}

// wait returns the code, once the browser has brought it.
func (w *answers) wait(ctx context.Context) (string, error) {
	select {
	case a := <-w.result:
		return a.code, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("nobody signed in: %w", ctx.Err())
	}
}

// serve takes an answer with the right state. Any other is somebody else's: it
// is refused, and the right one is still waited for.
func (w *answers) serve(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	out.Header().Set("Cache-Control", "no-store")
	q := r.URL.Query()
	if r.Host != w.listener.Addr().String() || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(w.state)) != 1 {
		out.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(out, "This answer does not belong to a sign-in that is under way.\n")
		return
	}
	a := w.judge(q.Get("iss"), q.Get("error"), q.Get("code"))
	if a.err != nil {
		out.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(out, "Not signed in. The terminal says why.\n")
	} else {
		_, _ = io.WriteString(out, "You may close this window and go back to the terminal.\n")
	}
	select {
	case w.result <- a:
	default: // answered already
	}
}

var errMixUp = errors.New("the answer came from another authorization server than the one that was asked; nothing was sent to it")

// judge compares the issuer first (RFC 9207): a code of another one must not be
// handed to this one.
func (w *answers) judge(issuer, failure, code string) answer {
	switch {
	case issuer != "" && issuer != w.authority.Issuer, issuer == "" && w.authority.NamesIssuer:
		return answer{err: errMixUp}
	case failure != "":
		r := &refusal{doing: "let the user in", status: http.StatusOK}
		if r.code = failure; !codes[failure] {
			r.code = "an unknown error"
		}
		return answer{err: r}
	case code == "":
		return answer{err: errors.New("the answer holds no code")}
	}
	return answer{code: code}
}
