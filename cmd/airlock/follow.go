package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// taskEvent is one event of a task, as far as commands look at it.
type taskEvent struct {
	TaskID string `json:"taskId"`
	Type   string `json:"type"`
	Data   struct {
		Approval *approval `json:"approval"`
	} `json:"data"`
}

// approval is a call that waits for the user.
type approval struct {
	ID        string          `json:"approvalId"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Releases  []string        `json:"releases"`
}

// maxEvent bounds one event, in bytes.
const maxEvent = 16 << 20

// follow posts a task and gives each of its events to see, until the last.
func (c *client) follow(ctx context.Context, task any, see func(taskEvent) error) error {
	text, err := json.Marshal(task)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/task", bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("POST /task: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return failureOf(response)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e taskEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("decode an event: %w", err)
		}
		if err := see(e); err != nil {
			return err
		}
		if e.Type == "task.completed" || e.Type == "task.failed" || e.Type == "task.cancelled" {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the task's events: %w", err)
	}
	return errors.New("the task's events ended before the task did")
}

// failureOf reads the error that an answer tells.
func failureOf(response *http.Response) error {
	var failed struct{ Error apiError }
	if err := json.NewDecoder(response.Body).Decode(&failed); err != nil {
		return fmt.Errorf("%s %s: status %d", response.Request.Method, response.Request.URL.Path, response.StatusCode)
	}
	return &failed.Error
}

// asker answers calls that need approval: by what the command was told, or by
// asking at the terminal.
type asker struct {
	std   streams
	yes   bool
	tty   *os.File // the terminal of the command, whatever its streams are; nil without one
	wants chan<- struct{}
	lines <-chan string // what is typed there, a line for each want
}

func newAsker(std streams, yes bool) *asker {
	a := &asker{std: std, yes: yes}
	if yes {
		return a
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		a.open(tty)
	}
	return a
}

// open begins to read a terminal, which ends with the program: nothing else can end
// a read there.
func (a *asker) open(tty *os.File) {
	wants, lines := make(chan struct{}), make(chan string)
	a.tty, a.wants, a.lines = tty, wants, lines
	go readLines(tty, wants, lines)
}

// readLines reads a line only when one is wanted, so that none is held that was
// typed before its question.
func readLines(r io.Reader, wants <-chan struct{}, lines chan<- string) {
	defer close(lines)
	s := bufio.NewScanner(r)
	for range wants {
		if !s.Scan() {
			return
		}
		lines <- s.Text()
	}
}

// ask decides one call. An error means that nobody can any more.
func (a *asker) ask(ctx context.Context, p *approval) (decision map[string]any, err error) {
	approve, deny := map[string]any{"decision": "approve"}, map[string]any{"decision": "deny"}
	switch {
	case a.yes:
		return approve, nil
	case a.tty == nil:
		fmt.Fprintf(a.std.err, "denied: %s needs approval, and there is no terminal to ask at; --yes approves all calls\n", visible(p.Tool))
		return deny, nil
	}
	fmt.Fprintf(a.tty, "The task wants to call %s\n  %s\n", visible(p.Tool), visible(string(bytes.TrimSpace(p.Arguments))))
	if len(p.Releases) > 0 {
		fmt.Fprintf(a.tty, "  which gives the server real values of: %s\n", strings.Join(p.Releases, ", "))
	}
	for {
		if err := forgetTyped(a.tty); err != nil {
			return nil, fmt.Errorf("ask at the terminal: %w", err)
		}
		fmt.Fprint(a.tty, "Allow? y = yes, t = yes, also later calls of this tool in this task, n = no: ")
		line, ok, err := a.line(ctx)
		if err != nil {
			return nil, err
		}
		switch answer := strings.ToLower(strings.TrimSpace(line)); {
		case !ok || answer == "n" || answer == "no":
			return deny, nil
		case answer == "y" || answer == "yes":
			return approve, nil
		case answer == "t":
			return map[string]any{"decision": "approve", "scope": "task"}, nil
		}
	}
}

// line is the next line typed; false means that there will be none.
func (a *asker) line(ctx context.Context) (line string, ok bool, err error) {
	for wants := a.wants; ; {
		select {
		case wants <- struct{}{}:
			wants = nil
		case line, ok := <-a.lines:
			return line, ok, nil
		case <-ctx.Done():
			return "", false, context.Cause(ctx)
		}
	}
}
