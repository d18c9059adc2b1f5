//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"airlock/orchestrator/llm/llmtest"
)

// natsNode is the name under which the test binary is one server of a NATS cluster.
const natsNode = "nats-node"

const (
	// shortTasks is how many tasks are sent where nobody asks for more.
	shortTasks = 40
	// clusterUsers share them.
	clusterUsers = 20
	// clusterTime bounds the whole test, beside a second for each task.
	clusterTime = 3 * time.Minute
)

// nodeAt is what a server of the cluster says of itself.
type nodeAt struct{ Name, Client, Cluster string }

// runNATSNode is a server of a cluster: its arguments are its name, its folder and the
// routes to others. It prints where it is, and ends with its input.
func runNATSNode() {
	s, err := server.NewServer(&server.Options{
		ServerName: os.Args[1], StoreDir: os.Args[2], Host: "127.0.0.1", Port: -1, JetStream: true, NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: -1}, Routes: server.RoutesFromStr(os.Args[3]),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Start()
	if !s.ReadyForConnections(crashTime) {
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(nodeAt{os.Args[1], s.ClientURL(), "nats://" + s.ClusterAddr().String()})
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
}

// clusterNode is one server of the cluster, in a process of its own.
type clusterNode struct {
	nodeAt
	command *exec.Cmd
}

func startNode(t *testing.T, name, routes string) *clusterNode {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	n := &clusterNode{command: exec.Command(self, name, t.TempDir(), routes)}
	n.command.Args[0] = natsNode // which makes the test binary the server
	n.command.Stderr = os.Stderr
	input, err := n.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := n.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = n.command.Wait()
	})
	if err := json.NewDecoder(output).Decode(&n.nodeAt); err != nil {
		t.Fatalf("the server %s did not start: %v", name, err)
	}
	return n
}

// startNodes starts three servers that are one cluster, and waits until they are.
func startNodes(t *testing.T) ([]*clusterNode, jetstream.JetStream) {
	t.Helper()
	nodes := []*clusterNode{startNode(t, "node0", "")}
	for _, name := range []string{"node1", "node2"} {
		nodes = append(nodes, startNode(t, name, nodes[0].Cluster))
	}
	conn, err := nats.Connect(urlOf(nodes), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		try, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := js.CreateOrUpdateStream(try, jetstream.StreamConfig{Name: "READY", Replicas: 3})
		cancel()
		if err == nil {
			return nodes, js
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("the cluster is not ready: %v", err)
		}
	}
}

func urlOf(nodes []*clusterNode) string {
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.Client)
	}
	return strings.Join(urls, ",")
}

// clusterModel has each task run a script that needs no file, and is at work long enough
// to be killed.
func clusterModel(request []byte) llmtest.Turn {
	return oneScript(request, func(mark string) string {
		return `const rows = await callMCPTool("database__query", {query: "SELECT email FROM customers LIMIT 3"});
		console.log("ran ` + mark + `", rows[0].email);
		await utils.sleep(300);
		return rows.length;`
	})
}

// twoServers are asked in turn; one that is away is left out.
type twoServers struct {
	servers [2]*crashServer

	mu   sync.Mutex // guards all below
	turn int
	dead [2]bool
}

func (p *twoServers) address() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	i := p.turn % 2
	if p.dead[i] {
		i = 1 - i
	}
	return p.servers[i].where()
}

func (p *twoServers) setDead(i int, dead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead[i] = dead
}

// TestClusterLosesNothing sends tasks to two processes that share a cluster of three
// NATS servers, kills one process and the server that leads the queue, and looks whether
// every accepted task ends once, with all its events, for a client that goes on at the
// other process. AIRLOCK_CLUSTER_TASKS sets how many tasks; make soak takes 500. The two
// need no files.
func TestClusterLosesNothing(t *testing.T) {
	t.Parallel()
	testCluster(t, clusterTasks(t, shortTasks), func(both *twoServers, l *life) (back func()) {
		l.kill(t)
		return func() {
			l := both.servers[0].start() // and looks at all that ended without it
			t.Cleanup(func() { l.kill(t) })
			select {
			case <-l.ready:
			case <-l.over:
				t.Errorf("the process that was killed did not start again:\n%s", l.log.String())
			}
		}
	})
}

// TestClusterOutlivesAStall stops a process as a whole, and lets it go on when the other
// one has done all its tasks.
func TestClusterOutlivesAStall(t *testing.T) {
	t.Parallel()
	count := clusterTasks(t, 0)
	if count == 0 {
		t.Skip("takes a minute: make soak runs it, and TestDeadProcessIsTakenOverFrom does the same in one process; set AIRLOCK_CLUSTER_TASKS=40 to run it")
	}
	testCluster(t, count, func(_ *twoServers, l *life) (back func()) {
		_ = l.command.Process.Signal(syscall.SIGSTOP)
		return func() { _ = l.command.Process.Signal(syscall.SIGCONT) }
	})
}

// clusterTasks is how many tasks are asked for.
func clusterTasks(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("AIRLOCK_CLUSTER_TASKS")
	if text == "" {
		return usual
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < shortTasks {
		t.Fatalf("AIRLOCK_CLUSTER_TASKS is %q; it must be %d or more", text, shortTasks)
	}
	return count
}

// testCluster takes a process away while tasks are at work, with a server of the
// cluster, and brings it back when all have ended.
func testCluster(t *testing.T, count int, away func(*twoServers, *life) (back func())) {
	ctx, cancel := context.WithTimeout(t.Context(), clusterTime+time.Duration(count)*time.Second)
	defer cancel()
	nodes, js := startNodes(t)
	both, lives := startBoth(t, urlOf(nodes))
	s := crashClients{t, both.address}

	tasks := make([]*crashTask, count)
	for i := range tasks {
		tasks[i] = &crashTask{user: fmt.Sprint("user", i%clusterUsers), mark: fmt.Sprint("mark-", i)}
	}
	first, late := tasks[:count*9/10], tasks[count*9/10:]
	var took durations
	var clients, ended sync.WaitGroup
	run := func(task *crashTask, took *durations, done func()) {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			begun := time.Now()
			err := s.submit(ctx, client, task)
			took.add(time.Since(begun))
			if err := errors.Join(err, s.follow(ctx, client, task)); err != nil {
				t.Errorf("%s: %v", task.mark, err)
			}
			done()
		})
	}
	some := min(8, len(first)/4)
	ended.Add(some)
	var once sync.Mutex // guards some
	for _, task := range first {
		run(task, &took, func() {
			once.Lock()
			defer once.Unlock()
			if some--; some >= 0 {
				ended.Done()
			}
		})
	}
	ended.Wait() // some have ended, some are at work, others wait
	info, err := js.Stream(ctx, "AIRLOCK_QUEUE")
	if err != nil {
		t.Fatal(err)
	}
	leader := slices.IndexFunc(nodes, func(n *clusterNode) bool { return n.Name == info.CachedInfo().Cluster.Leader })
	if leader < 0 {
		t.Fatalf("no server leads the queue: %+v", info.CachedInfo().Cluster)
	}
	rss := max(maxRSS(t, lives[0]), maxRSS(t, lives[1]))
	both.setDead(0, true)
	_ = nodes[leader].command.Process.Kill()
	back := away(both, lives[0])
	var tookLate durations
	for _, task := range late {
		run(task, &tookLate, func() {})
	}
	clients.Wait()
	rss = max(rss, maxRSS(t, lives[1]))

	back()
	both.setDead(0, false)
	s.judgeCluster(ctx, tasks, both.servers)
	t.Logf("%d tasks; accepted within %v at the 99th of 100, %v at the most, %v while the cluster found a new leader; RSS %d MB at the most", count, took.at(0.99), took.at(1), tookLate.at(1), rss>>20)
}

// startBoth starts the two processes.
func startBoth(t *testing.T, url string) (*twoServers, []*life) {
	t.Helper()
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.NewEndlessServer(t, clusterModel)
	both, lives := &twoServers{}, make([]*life, 2)
	for i := range both.servers {
		both.servers[i] = newCrashServer(t, []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "DATA_DIR=" + t.TempDir(), "CATALOG=" + catalog, "PORT=0", "MCP_PORT=0",
			"NATS_URL=" + url, "STORE_KEY=" + strings.Repeat("07", 32), "SESSION_SECRET=" + strings.Repeat("secret", 6), "PEER_URL=http://127.0.0.1:0",
			"SANDBOX_BACKEND=wasm", "LLM_PROVIDER=openai", "LLM_API_KEY=key", "LLM_MODEL=scripted", "LLM_BASE_URL=" + model.OpenAIURL(),
			"RATE_LIMIT_MAX=0", "LOG_FORMAT=json", "LOG_LEVEL=info",
		})
		l := both.servers[i].start()
		lives[i] = l
		t.Cleanup(func() {
			l.kill(t)
			if failed := regexp.MustCompile(`(?m)^.*"msg":"request failed".*$`).FindString(l.log.String()); failed != "" {
				t.Errorf("process %d failed a request: %s", i, failed)
			}
			if t.Failed() {
				t.Logf("the log of process %d:\n%s", i, l.log.String())
			}
		})
		select {
		case <-l.ready:
		case <-l.over:
			t.Fatalf("process %d did not start:\n%s", i, l.log.String())
		}
	}
	return both, lives
}

// judgeCluster asks both processes for every task.
func (s crashClients) judgeCluster(ctx context.Context, tasks []*crashTask, servers [2]*crashServer) {
	t := s.t
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ends, resumed := map[string]int{}, 0
	for _, task := range tasks {
		if len(task.seen) == 0 {
			continue // told above
		}
		ends[task.seen[len(task.seen)-1]]++
		if slices.Contains(task.seen, "task.resumed") {
			resumed++
		}
		for i, server := range servers {
			again := &crashTask{user: task.user, mark: task.mark, id: task.id}
			if err := server.follow(ctx, client, again); err != nil || !slices.Equal(again.seen, task.seen) {
				t.Errorf("%s: its client saw %v, process %d has %v, %v", task.mark, task.seen, i, again.seen, err)
			}
		}
	}
	if ends["task.completed"] != len(tasks) {
		t.Errorf("of %d tasks there ended %v", len(tasks), ends)
	}
	listed := 0
	for i := range clusterUsers {
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
	t.Logf("%d tasks: %v, %d of them gone on with by the other process", len(tasks), ends, resumed)
}

// durations are how long things took.
type durations struct {
	mu  sync.Mutex // guards all
	all []time.Duration
}

func (d *durations) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, took)
}

// at is the duration below which that part of all is.
func (d *durations) at(part float64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.all)
	return d.all[max(int(part*float64(len(d.all)))-1, 0)].Round(time.Millisecond)
}

var peakRSS = regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`)

// maxRSS is the most memory that a process has had, in bytes; 0 where the system does
// not tell.
func maxRSS(t *testing.T, l *life) int {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", l.command.Process.Pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if m := peakRSS.FindStringSubmatch(lines.Text()); m != nil {
			kB, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			return kB << 10
		}
	}
	return 0
}
