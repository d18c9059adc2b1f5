package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"airlock/servers/keeper"
)

// TestMain plays a server that misbehaves when the test binary is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "peer" {
		playPeer(os.Args[2])
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "manager" {
		playManager(os.Args[2])
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "keeper" {
		os.Exit(keeper.Main(os.Args[2:], os.Environ()))
	}
	goleak.VerifyTestMain(childless{m})
}

// childless fails a run that leaves a child behind, be it a zombie.
type childless struct{ *testing.M }

func (c childless) Run() int {
	code := c.M.Run()
	for _, p := range processes() {
		if p.parent == os.Getpid() {
			fmt.Fprintf(os.Stderr, "process %d was left behind in state %s\n", p.pid, p.state)
			code = 1
		}
	}
	return code
}

// peer is a server over stdio written without any library, so that it can break
// the protocol's rules.
type peer struct {
	mode string
	in   *bufio.Reader
	out  *bufio.Writer
	last []byte // what it was told to remember

	hello           json.RawMessage // the client's capabilities
	asking, waiting json.RawMessage // calls to answer later
	hung, cancelled string          // the ids of a call without an answer, and of one that nobody waits for
}

func (p *peer) tellCancelled() {
	if p.waiting != nil && p.cancelled != "" {
		p.result(p.waiting, text(fmt.Sprint(p.cancelled == p.hung)))
		p.waiting = nil
	}
}

func playPeer(mode string) {
	p := &peer{mode: mode, in: bufio.NewReaderSize(os.Stdin, 1<<20), out: bufio.NewWriterSize(os.Stdout, 1<<20)}
	p.begin()
	for {
		line, err := p.in.ReadBytes('\n')
		if err != nil {
			p.inputEnded()
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		switch {
		case len(r.ID) > 0 && r.Method != "":
			p.answer(r)
		case len(r.ID) > 0 && p.asking != nil: // what we asked is answered
			p.result(p.asking, text(string(line)))
		case r.Method == "notifications/cancelled":
			p.cancelled = string(r.Params.RequestID)
			p.tellCancelled()
		}
	}
}

// playManager starts a server from a catalog, says so and waits.
func playManager(catalog string) {
	c, err := LoadCatalog(catalog, nil)
	if err != nil {
		panic(err)
	}
	m, err := New(Options{Catalog: c, Keeper: keeping()})
	if err != nil {
		panic(err)
	}
	result, err := m.Call(context.Background(), anyone, "peer__do", act("pid"))
	if err != nil || result.IsError {
		panic(err)
	}
	fmt.Println("started")
	select {}
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`

		Capabilities json.RawMessage `json:"capabilities"`
		RequestID    json.RawMessage `json:"requestId"`
		Meta         struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (p *peer) begin() {
	switch p.mode {
	case "dies at start":
		fmt.Fprintln(os.Stderr, "cannot open the database of canary@example.com")
		os.Exit(3)
	case "leaves its number":
		signal.Ignore(syscall.SIGTERM)
		if err := os.WriteFile(os.Args[4], fmt.Append(nil, os.Getpid()), 0o600); err != nil {
			panic(err)
		}
	case "babbles":
		for {
			p.print("INFO starting up")
		}
	case "greets with log lines":
		p.print("Welcome!\n\n{\"not\": \"a message\"}\n[1,2]\n\x00\xff")
	case "never answers":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "makes an orphan", "makes a daemon":
		child := exec.Command(os.Args[0], append([]string{"peer", "orphan"}, os.Args[3:]...)...)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: p.mode == "makes a daemon"}
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stderr, "orphan %d\n", child.Process.Pid)
		p.last = fmt.Appendf(nil, "%d", child.Process.Pid)
		if len(os.Args) > 4 {
			if err := os.WriteFile(os.Args[4], p.last, 0o600); err != nil {
				panic(err)
			}
		}
	case "orphan":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	}
}

func (p *peer) inputEnded() {
	if p.mode == "stubborn" || p.mode == "leaves its number" || strings.HasPrefix(p.mode, "makes a") {
		time.Sleep(time.Hour)
	}
}

func (p *peer) print(line string) {
	fmt.Fprintln(p.out, line)
	_ = p.out.Flush()
}

func (p *peer) result(id json.RawMessage, result string) {
	p.print(fmt.Sprintf(`{"result":%s,"jsonrpc":"2.0","id":%s}`, result, id))
}

func text(s string) string {
	quoted, _ := json.Marshal(s)
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, quoted)
}

// oddSchema has what decoding and encoding again would lose or change.
const oddSchema = `{"type":"object",  "properties":{"b":{"type":"integer","maximum":1e3,"x-unit":"\u00b5s"},"a":{"const":9007199254740993}},"$defs":{},"required":[]}`

func (p *peer) answer(r request) {
	switch r.Method {
	case "initialize":
		p.hello = r.Params.Capabilities
		p.result(r.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"peer","version":"1"}}`)
	case "ping":
		p.result(r.ID, `{}`)
	case "tools/list":
		p.result(r.ID, `{"tools":[{"name":"do","description":"does it","inputSchema":`+oddSchema+`},{"name":"bad name@x","inputSchema":{}},{"name":"do","inputSchema":{}}`+p.more()+`]}`)
	case "tools/call":
		p.call(r)
	default:
		p.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, r.ID))
	}
}

func (p *peer) more() string {
	if p.mode == "remembers" && p.last != nil {
		return `,{"name":"recall","inputSchema":{}}`
	}
	return ""
}

func (p *peer) call(r request) {
	var in struct{ Act, Text string }
	_ = json.Unmarshal(r.Params.Arguments, &in)
	switch in.Act {
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "hang":
		p.hung = string(r.ID)
		if token := r.Params.Meta.ProgressToken; token != nil {
			p.print(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":0}}`, token))
		}
	case "was it cancelled":
		p.waiting = r.ID
		p.tellCancelled()
	case "read", "write", "dial", "allocate":
		p.result(r.ID, text(p.try(in.Act, in.Text)))
	case "hold": // memory, in a process that no race detector blows up
		_ = exec.Command("/bin/sh", "-c", "head -c "+in.Text+"m /dev/zero | tail -c "+in.Text+"m | sleep 1000").Run()
	case "capabilities":
		p.result(r.ID, text(string(p.hello)))
	case "ask":
		p.asking = r.ID
		p.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":{"message":"who is canary@example.com"}}`, in.Text))
	case "report progress":
		for _, said := range []string{`"progress":1,"total":4`, `"progress":2.5,"message":"half of canary"`, `"progress":"x"`} {
			p.print(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,%s}}`, r.Params.Meta.ProgressToken, said))
			p.print(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"other",%s}}`, said))
		}
		p.result(r.ID, text("done"))
	case "stop reading":
		p.result(r.ID, text("deaf from now on"))
		select {}
	case "freeze":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "big":
		p.big(r.ID)
	case "big without id":
		p.print(`{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 20<<20) + `"}`)
	case "flood":
		for range 20_000 {
			fmt.Fprintln(p.out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
			fmt.Fprintln(p.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			fmt.Fprintln(p.out, `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`)
		}
		p.result(r.ID, text("flooded"))
	case "refuse":
		p.print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"canary@example.com is no good","data":{"why":"x"}}}`, r.ID))
	case "nonsense":
		p.result(r.ID, `"a string"`)
	case "garbage":
		p.print("%%% not JSON at all\n{\"id\":999999999,\"result\":{}}\n{\"id\":\"x\",\"result\":{}}")
		p.result(r.ID, text("after garbage"))
	case "remember":
		p.last = []byte(in.Text)
		p.print(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		p.result(r.ID, text("yes"))
	case "environment":
		p.result(r.ID, text(strings.Join(os.Environ(), "\n")))
	case "recall":
		p.result(r.ID, text(string(p.last)))
	case "pid":
		p.result(r.ID, text(fmt.Sprint(os.Getpid())))
	default:
		p.result(r.ID, text(in.Text))
	}
}

// try says what came of touching the world.
func (p *peer) try(what, arg string) string {
	var err error
	answer := []byte("done")
	switch what {
	case "read":
		answer, err = os.ReadFile(arg)
	case "write":
		err = os.WriteFile(arg, []byte("written"), 0o600)
	case "dial":
		var c net.Conn
		if c, err = net.DialTimeout("tcp", arg, 5*time.Second); err == nil {
			_ = c.Close()
		}
	case "allocate":
		n, _ := strconv.Atoi(arg)
		p.last = bytes.Repeat([]byte{1}, n<<20)
	}
	if err != nil {
		return "failed: " + err.Error()
	}
	return string(answer)
}

// big writes 100 MB in one message, its id at the end.
func (p *peer) big(id json.RawMessage) {
	_, _ = p.out.WriteString(`{"result":{"id":7,"content":[{"type":"text","text":"`)
	chunk := strings.Repeat("y", 1<<20)
	for range 100 {
		_, _ = p.out.WriteString(chunk)
	}
	p.print(fmt.Sprintf(`"}]},"jsonrpc":"2.0","id":%s}`, id))
}
