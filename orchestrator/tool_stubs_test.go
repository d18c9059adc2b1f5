package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/workspace"
)

// knownServers is a catalog whose known tools a test can change.
type knownServers struct {
	noServers
	mu    sync.Mutex // guards tools
	tools []servers.Tool
}

func (k *knownServers) KnownTools(context.Context, servers.Caller) []servers.Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools
}

func (k *knownServers) know(server string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tools = append(k.tools, servers.Tool{Server: server, Name: "find", Description: pii.NewRaw("Finds things of " + server + "."), InputSchema: pii.NewRaw(`{"type":"object"}`)})
}

// testToolFolder is the /tools of a user over a catalog.
func testToolFolder(t *testing.T, upstreams bridge.Upstreams) (toolFolder, *toolStubs) {
	t.Helper()
	pseudonym := ident.NewPseudonym([]byte("a key for tests, 32 bytes long.."))
	guard, err := bridge.New(bridge.Options{
		Secret: []byte("a secret for tests, 32 bytes or more"), TokenTTL: time.Hour, Limits: bridge.DefaultLimits(),
		Upstreams: upstreams, Audit: io.Discard, Pseudonym: pseudonym,
	})
	if err != nil {
		t.Fatal(err)
	}
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stubs := &toolStubs{guard: guard, log: zap.NewNop(), parent: filepath.Join(t.TempDir(), "stubs")}
	return toolFolder{stubs: stubs, user: "ada", viewer: Options{Vaults: pii.VaultOptions{Detector: detector}}.visitor}, stubs
}

func TestToolFolderFollowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	up := &knownServers{}
	tools, stubs := testToolFolder(t, up)
	space, err := workspace.Open([]workspace.Folder{tools.asFolder()})
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	list := func() string {
		entries, err := space.ReadDir("/tools")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	if got := list(); got != "" {
		t.Errorf("lists %q before anything is known", got)
	}
	up.know("shop")
	if got := list(); got != "shop.d.ts shop.py" {
		t.Errorf("lists %q", got)
	}
	text, err := space.ReadFile("/tools/shop.d.ts", 1<<20)
	if err != nil || !strings.Contains(string(text), "Finds things of shop.") {
		t.Errorf("read %q, %v", text, err)
	}
	if err := space.WriteFile("/tools/shop.py", []byte("x")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing gave %v", err)
	}
	if _, err := space.ReadFile("/tools/../run-1", 10); err == nil {
		t.Error("read outside of the folder")
	}
	mounted := files{space, tools}.Mounts()
	if len(mounted) != 1 || mounted[0].Guest != "/tools" || !mounted[0].ReadOnly {
		t.Fatalf("mounts %+v", mounted)
	}
	if info, err := os.Stat(mounted[0].Host); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the host folder: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(mounted[0].Host, "shop.py")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a host file: %v, %v", info, err)
	}
	for i := range 3 * maxStubFolders {
		up.know("s" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
		if _, ok := tools.mounted(); !ok {
			t.Fatal("no folder")
		}
	}
	if kept, err := os.ReadDir(stubs.root); err != nil || len(kept) > maxStubFolders {
		t.Errorf("%d folders are kept, %v", len(kept), err)
	}
	if err := stubs.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stubs.root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stayed: %v", err)
	}
}

func TestToolFolderIsSharedAndMadeOnce(t *testing.T) {
	t.Parallel()
	up := &knownServers{}
	up.know("shop")
	tools, stubs := testToolFolder(t, up)
	other := tools
	other.user = "bob"
	var all sync.WaitGroup
	dirs := make([]string, 16)
	for i := range dirs {
		all.Go(func() {
			if m, ok := []toolFolder{tools, other}[i%2].mounted(); ok {
				dirs[i] = m.Host
			}
		})
	}
	all.Wait()
	for _, dir := range dirs {
		if dir == "" || dir != dirs[0] {
			t.Errorf("folders are %q", dirs)
			break
		}
	}
	if kept, err := os.ReadDir(stubs.root); err != nil || len(kept) != 1 {
		t.Errorf("%d folders, %v", len(kept), err)
	}
}

// A script sees /tools beside its other folders.
func TestScriptsSeeTheToolFolder(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), func(_ context.Context, x sandbox.Execution) sandbox.Result {
		entries, err := x.Files.ReadDir("/")
		if err != nil {
			return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw(err.Error())}}
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		value, _ := json.Marshal(names)
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(string(value))}
	})
	out, err := s.Execute(t.Context(), ExecuteRequest{User: "ada", Language: sandbox.JavaScript, Code: "x"})
	if err != nil || out.Value.String() != `["artifacts","skills","tools","workspace"]` {
		t.Errorf("got %s, %v", out.Value, err)
	}
}
