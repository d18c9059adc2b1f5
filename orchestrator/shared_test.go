package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// roster says who lives, as a test decides it. Package state tests the real Members.
type roster struct {
	mu   sync.Mutex // guards all below
	dead map[string]bool
	all  []*fakeMember
}

// fakeMember is one process of a roster.
type fakeMember struct {
	roster  *roster
	self    string // guarded by roster.mu
	changes chan struct{}
}

func (r *roster) join(name string) *fakeMember {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &fakeMember{r, name, make(chan struct{}, 1)}
	r.all = append(r.all, m)
	return m
}

func (m *fakeMember) Self() string {
	m.roster.mu.Lock()
	defer m.roster.mu.Unlock()
	return m.self
}

func (m *fakeMember) Find(_ context.Context, id string) (string, bool, error) {
	m.roster.mu.Lock()
	defer m.roster.mu.Unlock()
	return "http://" + id, id != "" && !m.roster.dead[id], nil
}

func (m *fakeMember) Changes() <-chan struct{} { return m.changes }

// change changes who lives, and tells all of it.
func (r *roster) change(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	for _, m := range r.all {
		select {
		case m.changes <- struct{}{}:
		default:
		}
	}
}

// die lets all others take a process for dead. It does not know.
func (r *roster) die(name string) { r.change(func() { r.dead[name] = true }) }

// sharedStore is a server that several processes use.
func sharedStore(t *testing.T) (url string, r *roster) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not start")
	}
	return s.ClientURL(), &roster{dead: map[string]bool{}}
}

// sharing is a process of those that share a store.
func sharing(t *testing.T, url string, m *fakeMember, provider llm.Provider, run scriptFunc) *Service {
	t.Helper()
	kept, err := state.Open(t.Context(), state.Options{URL: url, Key: make([]byte, state.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServiceOn(t, kept, m, t.TempDir(), noServers{}, time.Minute, provider, run)
	if err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// scriptTurn has the model run one script.
func scriptTurn() *llmtest.Script {
	return llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("work()")}}, llmtest.Turn{Text: "Done by the first."})
}

// elsewhere says where another process is that works on what was asked for.
func elsewhere(t *testing.T, err error) string {
	t.Helper()
	var other *ElsewhereError
	if !errors.As(err, &other) {
		t.Fatalf("got %v, want that it is elsewhere", err)
	}
	return other.URL
}

func TestProcessesThatShareAStoreLeaveEachOthersTasksAlone(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	begun := make(chan struct{}, 1)
	one := sharing(t, url, all.join("one"), scriptTurn(), waits(begun))
	id, err := one.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org."), Repeat: Repeat{Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	task, err := one.Task(user, id)
	if err != nil {
		t.Fatal(err)
	}
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), throws("nothing is to be run here"))
	for what, err := range map[string]error{
		"its task":      errorOf(two.Task(user, id)),
		"its end":       errorOf(two.Wait(t.Context(), user, id)),
		"its cancel":    two.Cancel(user, id),
		"its approval":  two.Decide(user, id, "apr_x", Decision{}),
		"its session":   errorOf(two.Submit(t.Context(), TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("And?")})),
		"a script":      errorOf(two.Execute(t.Context(), ExecuteRequest{User: user, Session: task.Session, Language: sandbox.JavaScript, Code: "1"})),
		"its title":     two.Rename(user, task.Session, pii.NewRaw("title")),
		"its erasure":   two.EraseSession(t.Context(), user, task.Session),
		"the same task": errorOf(two.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org."), Repeat: Repeat{Key: "k"}})),
	} {
		if at := elsewhere(t, err); at != "http://one" {
			t.Errorf("%s is at %s", what, at)
		}
	}
	if _, err := two.Task("somebody", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's is %v", err)
	}
	if list := tasksOf(t, two, user); len(list) != 1 || list[0].ID != id || list[0].Status != StatusRunning || list[0].Session != task.Session {
		t.Errorf("the other process lists %+v", list)
	}
	if err := one.Cancel(user, id); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Wait(t.Context(), user, id); err != nil {
		t.Fatal(err)
	}
	if ended, err := two.Task(user, id); err != nil || ended.Status != StatusCancelled {
		t.Errorf("what ended there is %s here, %v", ended.Status, err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestDeadProcessIsTakenOverFrom lets a process be taken for dead that is only slow: it
// knows nothing of it until it has something to say.
func TestDeadProcessIsTakenOverFrom(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	one := sharing(t, url, all.join("one"), scriptTurn(), func(ctx context.Context, _ sandbox.Execution) sandbox.Result {
		begun <- struct{}{}
		<-goOn
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(`"late@example.org"`)}
	})
	two := sharing(t, url, all.join("two"), llmtest.NewScript(llmtest.Turn{Text: "Done by the second."}), throws("nothing is to be run again"))
	id, err := one.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org.")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	before := allEvents(t, one, id)
	elsewhere(t, errorOf(two.Task(user, id)))

	all.die("one")
	task, err := two.Wait(t.Context(), user, id) // takes it over if nobody has
	if err != nil || task.Status != StatusCompleted || task.Message.String() != "Done by the second." {
		t.Fatalf("ended %s: %q, %+v, %v", task.Status, task.Message, task.Problem, err)
	}
	ended := allEvents(t, two, id)
	if types := typesOf(ended); !slices.Equal(types[:len(before)], typesOf(before)) || !slices.Contains(types, "task.resumed") {
		t.Errorf("events were %v, became %v", typesOf(before), types)
	}

	close(goOn)
	if _, err := one.Wait(t.Context(), user, id); err != nil && !errors.Is(err, ErrMoved) {
		t.Errorf("who was taken over from tells of its task: %v", err)
	}
	for _, s := range []*Service{one, two} {
		waitFor(t, func() bool {
			later, err := s.Task(user, id)
			return err == nil && later.Message.String() == "Done by the second."
		})
		if later := allEvents(t, s, id); !slices.Equal(typesOf(later), typesOf(ended)) {
			t.Errorf("events were %v, are %v", typesOf(ended), typesOf(later))
		}
	}
	if at := elsewhere(t, errorOf(one.Submit(t.Context(), TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("And?")}))); at != "http://two" {
		t.Errorf("the session is at %s", at)
	}
	if list := tasksOf(t, one, user); len(list) != 1 || list[0].Status != StatusCompleted {
		t.Errorf("it lists %+v", list)
	}
}

// waitFor looks until something is so that another goroutine does in its time.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it never came to be")
		}
	}
}

func TestProcessThatIsCutOffStopsAndComesBack(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	begun, stopped := make(chan struct{}, 2), make(chan struct{}, 2)
	m := all.join("one")
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("work()")}}, llmtest.Turn{Text: "Done."})
	s := sharing(t, url, m, model, func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		defer func() { stopped <- struct{}{} }()
		return waits(begun)(ctx, x)
	})
	id, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Work.")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	_, more, err := s.Events(user, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	all.change(func() { m.self = "" })
	<-stopped
	<-more // who follows the task is told to look again
	if _, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Work.")}); !errors.Is(err, ErrCutOff) {
		t.Errorf("a new task gave %v", err)
	}
	all.change(func() { all.dead["one"], m.self = true, "one again" })
	task, err := s.Wait(t.Context(), user, id)
	if err != nil || task.Status != StatusCompleted || task.Message.String() != "Done." {
		t.Fatalf("ended %s: %q, %+v, %v", task.Status, task.Message, task.Problem, err)
	}
	if types := strings.Join(typesOf(allEvents(t, s, id)), " "); strings.Count(types, "task.resumed") != 1 {
		t.Errorf("its events are %v", types)
	}
	next := runTask(t, s, TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("And?")})
	if next.Status == StatusQueued {
		t.Errorf("its session is of no use: %+v", next)
	}
}

// TestOneRequestSentToTwoProcesses sends a request to both at once, as a client does
// that got no answer.
func TestOneRequestSentToTwoProcesses(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(llmtest.Turn{Text: "One."}), returns("1"))
	two := sharing(t, url, all.join("two"), llmtest.NewScript(llmtest.Turn{Text: "Two."}), returns("1"))
	request := TaskRequest{User: user, Text: pii.NewRaw("Work."), Repeat: Repeat{Key: "k"}}
	var ids [2]ident.Task
	var work sync.WaitGroup
	for i, s := range []*Service{one, two} {
		work.Go(func() {
			var other *ElsewhereError
			id, err := s.Submit(t.Context(), request)
			if err != nil && !errors.As(err, &other) {
				t.Errorf("%d: %v", i, err)
			}
			ids[i] = id
		})
	}
	work.Wait()
	if ids[0] == "" && ids[1] == "" || ids[0] != "" && ids[1] != "" && ids[0] != ids[1] {
		t.Errorf("the request became %v", ids)
	}
	if list := tasksOf(t, one, user); len(list) != 1 {
		t.Errorf("it became %d tasks", len(list))
	}
	id := cmp.Or(ids[0], ids[1])
	waitFor(t, func() bool {
		task, err := two.Task(user, id)
		return err == nil && task.Status.Final()
	})
	if again, err := two.Submit(t.Context(), request); err != nil || again != id {
		t.Errorf("sent again it became %s, %v; want %s", again, err, id)
	}
	request.Repeat.Digest[0]++
	if _, err := two.Submit(t.Context(), request); !errors.Is(err, ErrRepeat) {
		t.Errorf("another request under the key: %v", err)
	}
}

// TestWhatIsErasedElsewhereIsNotShown has a process remember a task whose session it
// loses to another one, which erases it.
func TestWhatIsErasedElsewhereIsNotShown(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	m := all.join("one")
	one := sharing(t, url, m, llmtest.NewScript(llmtest.Turn{Text: "Done."}), returns("1"))
	two := sharing(t, url, all.join("two"), llmtest.NewScript(llmtest.Turn{Text: "Done."}), returns("1"))
	task := runTask(t, one, TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org.")})
	all.change(func() { all.dead["one"], m.self = true, "one again" })
	if next := runTask(t, two, TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("And?")}); next.Status != StatusCompleted {
		t.Fatalf("the session went on with %s, %+v", next.Status, next.Problem)
	}
	if err := two.EraseSession(t.Context(), user, task.Session); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(tasksOf(t, one, user)) == 0 })
	if _, err := one.Task(user, task.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("its task is %v", err)
	}
}
