package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// caller asks the API for one visitor.
type caller struct {
	page       *Page
	credential string // empty where nobody signs in
}

// The following are what the API answers, as far as the page shows it: docs/API.md.

type about struct {
	Version   string   `json:"version"`
	Model     string   `json:"model"`
	PIIMode   string   `json:"piiMode"`
	Languages []string `json:"languages"`
	User      string   `json:"userId"`
	Rights    struct {
		Run     bool `json:"run"`
		Reveal  bool `json:"reveal"`
		Approve bool `json:"approve"`
	} `json:"rights"`
}

type usage struct {
	Turns        int `json:"turns"`
	Executions   int `json:"executions"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	CachedTokens int `json:"cachedTokens"`
}

type task struct {
	ID        string     `json:"taskId"`
	Session   string     `json:"sessionId"`
	Status    string     `json:"status"`
	Task      string     `json:"task"`
	Title     string     `json:"title"`
	Usage     usage      `json:"usage"`
	Approvals []approval `json:"approvals"`
	Created   time.Time  `json:"created"`
	Finished  time.Time  `json:"finished"`
}

type approval struct {
	ID        string          `json:"approvalId"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server"`
	Arguments json.RawMessage `json:"arguments"`
	Tokenized json.RawMessage `json:"tokenized"`
	Releases  []string        `json:"releases"`
	Origins   []string        `json:"origins"`
	Expires   time.Time       `json:"expires"`
}

type artifact struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	MIME string `json:"mimeType"`
}

type event struct {
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
	Data struct {
		Execution  string    `json:"executionId"`
		Language   string    `json:"language"`
		Code       string    `json:"code"`
		Stream     string    `json:"stream"`
		Text       string    `json:"text"`
		Part       string    `json:"part"`
		Tool       string    `json:"tool"`
		Outcome    string    `json:"outcome"`
		DurationMs int64     `json:"durationMs"`
		Done       float64   `json:"done"`
		Total      float64   `json:"total"`
		Bytes      int64     `json:"bytes"`
		Name       string    `json:"name"`
		Error      *problem  `json:"error"`
		Approval   *approval `json:"approval"`
	} `json:"data"`
}

// maxAnswer bounds an answer of the API that is read at once: a whole artifact fits.
const maxAnswer = 80 << 20

// get asks for JSON.
func (c caller) get(ctx context.Context, path string, into any) error {
	return c.send(ctx, http.MethodGet, path, nil, into)
}

// send sends JSON and reads the answer into a value, unless it is nil. An error of the
// API is a *problem.
func (c caller) send(ctx context.Context, method, path string, body, into any) error {
	answer, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the API's answer: %w", err)
	}
	return nil
}

// open sends a request and returns a good answer, whose body the receiver closes.
func (c caller) open(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("put a request into JSON: %w", err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.page.opts.BaseURL+path, content)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.credential != "" {
		r.Header.Set("Authorization", "Bearer "+c.credential)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.page.opts.API.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		defer answer.Body.Close()
		return nil, readProblem(answer)
	}
	return answer, nil
}

// maxProblem bounds the text of an error.
const maxProblem = 64 << 10

func readProblem(answer *http.Response) error {
	var told struct {
		Error problem `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxProblem)).Decode(&told); err != nil || told.Error.Message == "" {
		told.Error.Message = "The server answered: " + http.StatusText(answer.StatusCode)
	}
	told.Error.Status = answer.StatusCode
	return &told.Error
}

func (c caller) tasks(ctx context.Context) ([]task, error) {
	var list struct {
		Tasks []task `json:"tasks"`
	}
	err := c.get(ctx, "/tasks", &list)
	return list.Tasks, err
}

// taskPath is the API's path to a task; the id comes from an address and may hold
// anything.
func taskPath(id, rest string) string { return "/tasks/" + url.PathEscape(id) + rest }
