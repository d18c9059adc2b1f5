//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

const (
	// shortKills is how often the server is killed where nobody asks for more.
	shortKills = 5
	// tasksPerKill is how many tasks are sent for each kill.
	tasksPerKill = 8
	// crashUsers share the tasks.
	crashUsers = 4
	// crashTime bounds one life of the server, and how long it takes to be ready.
	crashTime = time.Minute
	// silence is after how long a client asks for its task's events anew.
	silence = 40 * time.Second
)

// taskMark is how a task's text names it.
var taskMark = regexp.MustCompile(`mark-[0-9]+`)

// crashModel has each task run one script, which leaves a file with each run.
func crashModel(request []byte) llmtest.Turn {
	return oneScript(request, func(mark string) string {
		return `const rows = await callMCPTool("database__query", {query: "SELECT email FROM customers LIMIT 3"});
		await fs.writeFile("/artifacts/` + mark + `-" + crypto.randomUUID(), rows.map(r => r.email).join("\n"));
		console.log("ran ` + mark + `", rows[0].email);
		return rows.length;`
	})
}

// oneScript has a task run one script, and answers with whatever came of it.
func oneScript(request []byte, code func(mark string) string) llmtest.Turn {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(request, &r); err != nil || len(r.Messages) == 0 {
		return llmtest.Turn{Text: "The request cannot be read."}
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "tool" {
		return llmtest.Turn{Text: "It is done: " + string(last.Content[:min(len(last.Content), 200)])}
	}
	arguments, _ := json.Marshal(map[string]string{"code": code(taskMark.FindString(string(last.Content)))})
	return llmtest.Turn{Text: "I run a script.", Calls: []llm.Call{{ID: "c1", Name: "execute_code", Arguments: string(arguments)}}}
}

// crashClients are clients of servers that may be away.
type crashClients struct {
	t *testing.T
	// address is where a server is now, and a channel that is closed when that changes.
	address func() (base string, changed <-chan struct{})
}

// crashServer is a server that is killed and started again in the same folder.
type crashServer struct {
	crashClients
	env []string

	mu      sync.Mutex // guards all below
	base    string
	changed chan struct{} // closed and replaced with base
}

// life is one process of the server.
type life struct {
	command *exec.Cmd
	ready   chan struct{}
	log     bytes.Buffer // read after over
	over    chan struct{}
}

// newCrashServer makes a server that is not there yet.
func newCrashServer(t *testing.T, env []string) *crashServer {
	s := &crashServer{env: env, changed: make(chan struct{})}
	s.crashClients = crashClients{t, s.where}
	return s
}

func (s *crashServer) start() *life {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	l := &life{command: exec.Command(self, "serve"), ready: make(chan struct{}), over: make(chan struct{})}
	l.command.Args[0] = "airlock" // which makes the test binary the program
	l.command.Env = s.env
	l.command.Dir = s.t.TempDir()
	output, err := l.command.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := l.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { // ends with the process
		defer close(l.over)
		lines := bufio.NewScanner(output)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			l.log.Write(append(lines.Bytes(), '\n'))
			var line struct{ Msg, URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "airlock is serving" {
				s.setBase(line.URL)
				close(l.ready)
			}
		}
		_ = l.command.Wait()
	}()
	return l
}

func (s *crashServer) setBase(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = base
	close(s.changed)
	s.changed = make(chan struct{})
}

// where is the server's address.
func (s *crashServer) where() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base, s.changed
}

// kill ends the process at once.
func (l *life) kill(t *testing.T) {
	t.Helper()
	_ = l.command.Process.Kill()
	<-l.over
}

// again does something until it works: while the server is away, nothing does.
func (s crashClients) again(ctx context.Context, do func(base string) error) error {
	for {
		base, changed := s.address()
		err := errors.New("the server was never there")
		if base != "" {
			if err = do(base); err == nil {
				return nil
			}
		}
		wait := time.NewTimer(time.Second)
		select {
		case <-changed:
		case <-wait.C: // it may have come back, or was only cut off
		case <-ctx.Done():
			wait.Stop()
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		wait.Stop()
	}
}

// crashTask is one task, and what its client has seen of it.
type crashTask struct {
	user, mark, id string
	seen           []string // types of its events, from number 1
}

func (s crashClients) submit(ctx context.Context, c *http.Client, task *crashTask) error {
	body, err := json.Marshal(map[string]any{
		"userId": task.user, "task": "Write to " + task.mark + "@planted.example about " + task.mark + ".",
		"files": []map[string]any{{"name": task.mark + ".csv", "content": []byte("mail\n" + task.mark + "@planted.example\n")}},
	})
	if err != nil {
		return err
	}
	return s.again(ctx, func(base string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/task", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Prefer", "respond-async")
		r.Header.Set("Idempotency-Key", task.mark)
		answer, err := c.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		var taken struct{ TaskID string }
		if err := json.NewDecoder(answer.Body).Decode(&taken); err != nil || taken.TaskID == "" {
			return fmt.Errorf("answered %d, %w", answer.StatusCode, err)
		}
		if task.id != "" && task.id != taken.TaskID {
			s.t.Errorf("%s was accepted as %s and as %s", task.mark, task.id, taken.TaskID)
		}
		task.id = taken.TaskID
		return nil
	})
}

// follow reads a task's events to the last, over as many connections as it takes.
func (s crashClients) follow(ctx context.Context, c *http.Client, task *crashTask) error {
	return s.again(ctx, func(base string) error {
		ctx, cancel := context.WithTimeout(ctx, silence) // a server that is stopped breaks no connection
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/tasks/"+task.id+"/events?userId="+task.user, nil)
		if err != nil {
			return err
		}
		if n := len(task.seen); n > 0 {
			r.Header.Set("Last-Event-ID", strconv.Itoa(n))
		}
		answer, err := c.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(answer.Body)
			if answer.StatusCode == http.StatusNotFound {
				s.t.Errorf("%s was accepted and is not known: %s", task.mark, text)
			}
			return fmt.Errorf("answered %d %s", answer.StatusCode, text)
		}
		return task.read(s.t, answer.Body)
	})
}

// read takes in the events of one connection; nil if the last was among them.
func (task *crashTask) read(t *testing.T, body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	id, whole := 0, ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "id":
			id, _ = strconv.Atoi(value)
		case name == "event":
			whole = value
		case lines.Text() == "" && whole != "": // an event counts when all of it is there
			if id != len(task.seen)+1 {
				t.Errorf("%s: event %d came after %d others", task.mark, id, len(task.seen))
			}
			task.seen = append(task.seen, whole)
			if whole == "task.completed" || whole == "task.failed" || whole == "task.cancelled" {
				return nil
			}
			whole = ""
		}
	}
	return io.ErrUnexpectedEOF
}

// TestKilledServerLosesNothing kills the server at random moments while several users
// send tasks, and looks afterwards whether every accepted task has ended once, with all
// its events, and what is on the disk. AIRLOCK_KILLS sets how often; make soak takes
// 200.
func TestKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	kills := shortKills
	if text := os.Getenv("AIRLOCK_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil || kills < 1 {
			t.Fatalf("AIRLOCK_KILLS is %q; it must be a number", text)
		}
	}
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	model := llmtest.NewEndlessServer(t, crashModel)
	s := newCrashServer(t, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATA_DIR=" + dir, "CATALOG=" + catalog, "PORT=0", "MCP_PORT=0",
		"SANDBOX_BACKEND=wasm", "LLM_PROVIDER=openai", "LLM_API_KEY=key", "LLM_MODEL=scripted", "LLM_BASE_URL=" + model.OpenAIURL(),
		"RATE_LIMIT_MAX=0", "LOG_FORMAT=json", "LOG_LEVEL=info",
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(kills+2)*crashTime)
	defer cancel()
	tasks := make([]*crashTask, kills*tasksPerKill)
	next := make(chan *crashTask)
	var clients sync.WaitGroup
	for range 2 * crashUsers {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for task := range next {
				if err := errors.Join(s.submit(ctx, client, task), s.follow(ctx, client, task)); err != nil {
					t.Errorf("%s: %v", task.mark, err)
				}
			}
		})
	}
	clients.Go(func() {
		defer close(next)
		for i := range tasks {
			tasks[i] = &crashTask{user: fmt.Sprint("user", i%crashUsers), mark: fmt.Sprint("mark-", i)}
			next <- tasks[i]
		}
	})
	for range kills {
		l := s.start()
		moment := time.NewTimer(rand.N(2500 * time.Millisecond)) //nolint:gosec // a moment, not a secret
		select {
		case <-moment.C:
		case <-l.over:
			t.Fatalf("the server ended by itself:\n%s", l.log.String())
		}
		l.kill(t)
	}
	l := s.start()
	defer func() { l.kill(t) }()
	select {
	case <-l.ready:
	case <-l.over:
		t.Fatalf("the server did not start again:\n%s", l.log.String())
	}
	clients.Wait()
	s.judge(ctx, tasks, dir)
}

// judge looks at what is left when all is done.
func (s *crashServer) judge(ctx context.Context, tasks []*crashTask, dir string) {
	t := s.t
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ends := map[string]int{}
	resumed := 0
	for _, task := range tasks {
		if len(task.seen) == 0 {
			continue // told above
		}
		ends[task.seen[len(task.seen)-1]]++
		again := &crashTask{user: task.user, mark: task.mark, id: task.id}
		if err := s.follow(ctx, client, again); err != nil || !slices.Equal(again.seen, task.seen) {
			t.Errorf("%s: its client saw %v, the store has %v, %v", task.mark, task.seen, again.seen, err)
		}
		if slices.Contains(task.seen, "task.resumed") {
			resumed++
		}
		runs, err := filepath.Glob(filepath.Join(dir, "artifacts", "*", task.mark+"-*"))
		if err != nil || len(runs) > 1 {
			t.Errorf("%s: its script ran %d times, %v", task.mark, len(runs), err)
		}
	}
	listed := 0
	for i := range crashUsers {
		var list struct{ Count int }
		err := s.again(ctx, func(base string) error {
			answer, err := client.Get(base + "/tasks?userId=" + fmt.Sprint("user", i))
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			return json.NewDecoder(answer.Body).Decode(&list)
		})
		if err != nil {
			t.Error(err)
		}
		listed += list.Count
	}
	if listed != len(tasks) {
		t.Errorf("%d tasks are listed, %d were sent", listed, len(tasks))
	}
	if found := filesOf(t, dir, "@planted.example"); len(found) > 0 {
		t.Errorf("what users wrote is in clear in %v", found)
	}
	t.Logf("%d tasks: %v, %d of them gone on with by a later process", len(tasks), ends, resumed)
}

// filesOf lists the files of a data folder that hold a text.
func filesOf(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // of a server that works
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
