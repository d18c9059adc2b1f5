package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap/zapcore"
)

// client is a command's way to the API. The commands are clients like any other,
// so that they give what the API gives and nothing else opens personal data.
type client struct {
	system *system
	http   *http.Client
	base   string
}

// light avoids the cost of containers for a command that needs none, unless the
// user asked for them.
func (c *Config) light() *Config {
	if c.SandboxBackend == "auto" {
		c.SandboxBackend = "wasm"
	}
	return c
}

// connect builds the system in process, quiet but for warnings. A command for one
// server tells by itself what is wrong with it.
func (c *Config) connect(std streams) (*client, error) {
	least := zapcore.WarnLevel
	if len(c.only) > 0 {
		least = zapcore.ErrorLevel
	}
	log, err := c.newLog(std, least)
	if err != nil {
		return nil, err
	}
	s, err := c.open(log)
	if err != nil {
		return nil, err
	}
	cl := &client{system: s}
	cl.http, cl.base = s.api.Client()
	return cl, nil
}

func (c *client) close() { _ = c.system.Close() }

// apiError is an answer of the API that is not a success.
type apiError struct {
	Code, Message, Hint string
}

// usage reports a refusal of what the user typed, as opposed to a failure.
func (e *apiError) usage() bool {
	return slices.Contains([]string{"invalid_request", "invalid_user_id", "unsupported_language", "too_large"}, e.Code)
}

func (e *apiError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// do sends a request and decodes the answer; body nil makes it a GET.
func (c *client) do(ctx context.Context, path string, body, into any) error {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	return c.send(ctx, method, path, body, into)
}

// send is do for every method. An answer without a body leaves into as it is.
func (c *client) send(ctx context.Context, method, path string, body, into any) error {
	response, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// maxFetched bounds a file that is fetched, in bytes.
const maxFetched = 64 << 20

// fetch returns the answer of a GET as it is.
func (c *client) fetch(ctx context.Context, path string) ([]byte, error) {
	response, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(io.LimitReader(response.Body, maxFetched))
}

// request returns an answer that is a success, with its body open.
func (c *client) request(ctx context.Context, method, path string, body any) (*http.Response, error) {
	payload := io.Reader(nil)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		payload = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer response.Body.Close()
		return nil, failureOf(response)
	}
	return response, nil
}

// progress tells on a terminal, from the first second on, that a command is
// still working.
func progress(std streams, what string) (done func()) {
	f, ok := std.err.(*os.File)
	if !ok || !isTerminal(f) {
		return func() {}
	}
	begun := time.Now()
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				fmt.Fprintf(f, "\r%s, %d s", what, int(time.Since(begun).Seconds()))
			}
		}
	})
	return func() {
		close(stop)
		work.Wait()
		fmt.Fprint(f, "\r\033[K")
	}
}

// printJSON writes a value the way people and programs can read.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
