// Command standin is a supervisor for tests of the host's side. Its scripts are
// not of any language: each line is one of the orders below, some of which no real
// supervisor would ever carry out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"airlock/runtime/docker/internal/wire"
)

type supervisor struct {
	mu   sync.Mutex // one frame at a time
	stop context.CancelFunc
}

func main() {
	s := &supervisor{stop: func() {}}
	s.send(wire.Hello, wire.Greeting{Version: wire.Version, Languages: []string{"bash"}})
	in, code := bufio.NewReader(os.Stdin), ""
	for {
		f, err := wire.Read(in)
		if err != nil {
			return
		}
		switch f.Kind {
		case wire.Code:
			code += string(f.Payload)
		case wire.Run:
			var job wire.Job
			if json.Unmarshal(f.Payload, &job) != nil {
				return
			}
			job.Code, code = code+job.Code, ""
			ctx, cancel := context.WithCancel(context.Background())
			s.stop = cancel
			go s.run(ctx, job)
		case wire.Cancel:
			s.stop()
		}
	}
}

// send sends bytes as they are and anything else as JSON.
func (s *supervisor) send(kind wire.Kind, v any) {
	data, ok := v.([]byte)
	if !ok {
		data, _ = json.Marshal(v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = wire.Write(os.Stdout, kind, data)
}

func (s *supervisor) run(ctx context.Context, job wire.Job) {
	outcome := wire.Outcome{ID: job.ID, Nonce: job.Nonce, Reason: "ok"}
	if strings.HasPrefix(job.Code, "die early") {
		os.Exit(3)
	}
	s.send(wire.Started, []byte("{}"))
	for line := range strings.Lines(job.Code) {
		order, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := s.obey(ctx, order, rest, &outcome, job); err != nil {
			outcome.Reason, outcome.Error = "error", &wire.Error{Name: "Error", Message: err.Error()}
			break
		}
	}
	s.send(wire.Done, outcome)
}

func (s *supervisor) obey(ctx context.Context, order, rest string, o *wire.Outcome, job wire.Job) error {
	switch order {
	case "print":
		s.send(wire.Stdout, []byte(rest+"\n"))
	case "warn":
		s.send(wire.Stderr, []byte(rest+"\n"))
	case "flood":
		for ctx.Err() == nil {
			s.send(wire.Stdout, make([]byte, 64<<10))
		}
	case "length":
		s.send(wire.Value, []byte(strconv.Itoa(len(job.Code))))
	case "value":
		s.send(wire.Value, []byte(rest))
	case "return":
		o.Value = json.RawMessage(rest)
	case "reason":
		o.Reason = rest
	case "sleep":
		<-ctx.Done()
		o.Reason = "cancelled"
	case "deaf":
		select {}
	case "die":
		os.Exit(3)
	case "say":
		fmt.Fprintln(os.Stderr, rest)
	case "leftovers":
		o.Leftovers = true
	case "foreign":
		o.Nonce = "guessed"
	case "raw":
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = io.WriteString(os.Stdout, rest)
	case "frame":
		s.send(wire.Kind(rest[0]), []byte(rest[1:]))
	case "write":
		name, size, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(size)
		return os.WriteFile(name, make([]byte, n), 0o600)
	case "read":
		data, err := os.ReadFile(rest)
		s.send(wire.Stdout, data)
		return err
	case "hold":
		block := make([]byte, 1<<30)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
	case "call":
		return s.call(ctx, rest, job)
	}
	return nil
}

// call calls the bridge and prints the answer's status and body.
func (s *supervisor) call(ctx context.Context, path string, job wire.Job) error {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", job.Socket)
	}}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://bridge"+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+job.Token)
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	s.send(wire.Stdout, fmt.Appendf(nil, "%d %s\n", answer.StatusCode, body))
	return err
}
