package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

var testKey = bytes.Repeat([]byte{7}, KeySize)

// kinds are the places that a store can be in.
var kinds = map[string]func(*testing.T) Options{
	"embedded": func(t *testing.T) Options { return Options{Dir: t.TempDir(), Key: testKey} },
	"external": func(t *testing.T) Options { return Options{URL: startServer(t, nil).ClientURL(), Key: testKey} },
}

// startServer starts a server of its own, which listens on loopback.
func startServer(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(startTime) {
		t.Fatal("the server did not start")
	}
	return s
}

// startCluster starts three servers that are one cluster, and waits until they are.
func startCluster(t *testing.T) []*server.Server {
	t.Helper()
	var nodes []*server.Server
	var routes string
	for i := range replicas {
		node := startServer(t, func(o *server.Options) {
			o.ServerName = fmt.Sprint("node", i)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: -1}
			o.Routes = server.RoutesFromStr(routes)
		})
		routes = "nats://" + node.ClusterAddr().String()
		nodes = append(nodes, node)
	}
	waitFor(t, "a leader of the cluster", func() bool {
		return slices.ContainsFunc(nodes, func(n *server.Server) bool {
			return n.JetStreamIsLeader() && len(n.JetStreamClusterPeers()) == replicas
		})
	})
	return nodes
}

// waitFor looks again and again for something that other processes do in their time.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(startTime)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("there is no %s", what)
		}
	}
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func everyKind(t *testing.T, test func(t *testing.T, o Options)) {
	t.Helper()
	t.Parallel()
	for name, options := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, options(t))
		})
	}
}

func TestValuesAreKeptReplacedAndForgotten(t *testing.T) {
	everyKind(t, func(t *testing.T, o Options) {
		s := open(t, o)
		for name, kv := range map[string]*KV{"kept": s.Kept(), "tasks": s.Tasks(), "queue": s.Queue()} {
			ctx := t.Context()
			if _, err := kv.Get(ctx, "ann", "a/one"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: what was never kept gave %v", name, err)
			}
			for _, value := range []string{"one", "", strings.Repeat("large", 1<<20), "another"} {
				if err := kv.Put(ctx, "ann", "a/one", []byte(value)); err != nil {
					t.Fatal(err)
				}
				if got, err := kv.Get(ctx, "ann", "a/one"); err != nil || string(got) != value {
					t.Errorf("%s: got %d bytes, %v; want %d", name, len(got), err, len(value))
				}
			}
			if err := kv.Create(ctx, "ann", "a/one", nil); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: making what is there gave %v", name, err)
			}
			if err := errors.Join(kv.Create(ctx, "ann", "a/two", []byte("2")), kv.Put(ctx, "bob", "a/one", []byte("b"))); err != nil {
				t.Fatal(err)
			}
			if names, err := kv.List(ctx, "ann", "a"); err != nil || !slices.Equal(names, []string{"one", "two"}) {
				t.Errorf("%s: listed %v, %v", name, names, err)
			}
			if places, err := kv.All(ctx, "a"); err != nil || len(places) != 3 || !slices.Contains(places, Place{"bob", "one"}) {
				t.Errorf("%s: all are %v, %v", name, places, err)
			}
			seen := map[string]bool{}
			if err := kv.Each(ctx, "a", func(owner, name string) { seen[owner+" "+name] = true }); err != nil || len(seen) != 3 || !seen["bob one"] {
				t.Errorf("%s: each is %v, %v", name, seen, err)
			}
			for range 2 {
				if err := kv.Delete(ctx, "ann", "a/one"); err != nil {
					t.Errorf("%s: delete: %v", name, err)
				}
			}
			if _, err := kv.Get(ctx, "ann", "a/one"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: what was deleted gave %v", name, err)
			}
			if got, err := kv.Get(ctx, "bob", "a/one"); err != nil || string(got) != "b" {
				t.Errorf("%s: another owner's is %q, %v", name, got, err)
			}
		}
	})
}

func TestAValueIsReplacedByWhoSawItOnly(t *testing.T) {
	everyKind(t, func(t *testing.T, o Options) {
		kv, ctx := open(t, o).Kept(), t.Context()
		last := uint64(0)
		for _, value := range []string{"one", "two", ""} {
			number, err := kv.Replace(ctx, "ann", "a/one", []byte(value), last)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kv.Replace(ctx, "ann", "a/one", []byte("late"), last); !errors.Is(err, ErrConflict) || !errors.Is(err, fs.ErrExist) {
				t.Errorf("replacing what was replaced gave %v", err)
			}
			if got, at, err := kv.Load(ctx, "ann", "a/one"); err != nil || string(got) != value || at != number {
				t.Errorf("got %q of number %d, %v; want %q, %d", got, at, err, value, number)
			}
			last = number
		}
		if _, err := kv.Replace(ctx, "ann", "a/one", make([]byte, maxReplaced), last); err != nil {
			t.Errorf("as much as may be: %v", err)
		}
		if _, err := kv.Replace(ctx, "ann", "a/two", make([]byte, maxReplaced+1), 0); !errors.Is(err, ErrTooLarge) {
			t.Errorf("more than may be: %v", err)
		}
		if _, _, err := kv.Load(ctx, "ann", "a/two"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what is not there: %v", err)
		}
	})
}

func TestLogKeepsTheOrderAndOneWriter(t *testing.T) {
	everyKind(t, func(t *testing.T, o Options) {
		l := open(t, o).Events()
		ctx := t.Context()
		large := strings.Repeat("r", 2<<20)
		last := uint64(0)
		for i, record := range []string{"a", large, "c"} {
			next, err := l.Append(ctx, "ann", "t1", []byte(record), last)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Append(ctx, "ann", "t1", []byte("another writer's"), last); !errors.Is(err, ErrConflict) {
				t.Errorf("record %d: an append behind an older one gave %v", i, err)
			}
			if _, err := l.Append(ctx, "ann", "t2", nil, 0); i == 0 && err != nil {
				t.Fatal(err)
			}
			last = next
		}
		records, end, err := l.Read(ctx, "ann", "t1", 0)
		if err != nil || end != last || len(records) != 3 || string(records[0]) != "a" || string(records[1]) != large || string(records[2]) != "c" {
			t.Fatalf("read %d records up to %d, %v", len(records), end, err)
		}
		if rest, _, err := l.Read(ctx, "ann", "t1", end); err != nil || len(rest) != 0 {
			t.Errorf("after the last there are %d, %v", len(rest), err)
		}
		if err := errors.Join(l.Sync(), l.Delete(ctx, "ann", "t1")); err != nil {
			t.Fatal(err)
		}
		if left, _, err := l.Read(ctx, "ann", "t1", 0); err != nil || len(left) != 0 {
			t.Errorf("%d records are left, %v", len(left), err)
		}
		if other, _, err := l.Read(ctx, "ann", "t2", 0); err != nil || len(other) != 1 {
			t.Errorf("the other log has %d records, %v", len(other), err)
		}
	})
}

func TestWhatIsKeptOutlivesTheStoreAndOpensWithItsKeyOnly(t *testing.T) {
	everyKind(t, func(t *testing.T, o Options) {
		ctx := t.Context()
		first := open(t, o)
		last, err := first.Events().Append(ctx, "ann", "t", []byte("event"), 0)
		if err := errors.Join(err, first.Queue().Put(ctx, "ann", "q", []byte("queued")), first.Close()); err != nil {
			t.Fatal(err)
		}
		wrong := o
		wrong.Key = bytes.Repeat([]byte{8}, KeySize)
		if _, err := Open(ctx, wrong); !errors.Is(err, ErrKey) {
			t.Errorf("another key gave %v, want ErrKey", err)
		}
		second := open(t, o)
		if got, err := second.Queue().Get(ctx, "ann", "q"); err != nil || string(got) != "queued" {
			t.Errorf("the queue holds %q, %v", got, err)
		}
		if records, end, err := second.Events().Read(ctx, "ann", "t", 0); err != nil || len(records) != 1 || end != last {
			t.Errorf("the log holds %d records up to %d, %v; want one at %d", len(records), end, err, last)
		}
	})
}

func TestClusterGoesOnWithoutOneOfItsServers(t *testing.T) {
	t.Parallel()
	nodes, ctx := startCluster(t), t.Context()
	s := open(t, Options{URL: nodes[0].ClientURL() + "," + nodes[1].ClientURL() + "," + nodes[2].ClientURL(), Key: testKey})
	if info, err := s.queue.area.stream.Info(ctx); err != nil || info.Config.Replicas != replicas {
		t.Errorf("the queue is kept by %d servers, %v", info.Config.Replicas, err)
	}
	last := uint64(0)
	for i := range 6 {
		if i == 3 {
			nodes[0].Shutdown()
			nodes[0].WaitForShutdown()
		}
		waitFor(t, "server that keeps the record", func() bool {
			next, err := s.Events().Append(ctx, "ann", "t", []byte{byte(i)}, last)
			if err == nil {
				last = next
			}
			return err == nil
		})
	}
	waitFor(t, "server that knows all", func() bool {
		records, end, err := s.Events().Read(ctx, "ann", "t", 0)
		return err == nil && end == last && len(records) == 6
	})
}

func TestAProcessWritesWithNoKeyThatAnotherHasDestroyed(t *testing.T) {
	t.Parallel()
	o := Options{URL: startServer(t, nil).ClientURL(), Key: testKey}
	one, two, ctx := open(t, o), open(t, o), t.Context()
	if err := errors.Join(two.Kept().Put(ctx, "ann", "a/one", []byte("1")), one.Erase(ctx, "ann")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "end of the key in the other process", func() bool {
		two.keys.mu.Lock()
		defer two.keys.mu.Unlock()
		return two.keys.opened["ann"] == nil
	})
	if err := two.Kept().Put(ctx, "ann", "a/one", []byte("2")); err != nil {
		t.Fatal(err)
	}
	if got, err := one.Kept().Get(ctx, "ann", "a/one"); err != nil || string(got) != "2" {
		t.Errorf("what was kept afterwards is %q, %v", got, err)
	}
}

// TestAKeyThatWasDestroyedWhileItWasReadIsNotHeld reads a key, hears that another process
// has destroyed it, and only then comes to hold it ready.
func TestAKeyThatWasDestroyedWhileItWasReadIsNotHeld(t *testing.T) {
	t.Parallel()
	k := newKeyring()
	aead, err := newAEAD(testKey)
	if err != nil {
		t.Fatal(err)
	}
	before := k.forgotten
	k.forget("ann")
	k.remember("ann", aead, before)
	if k.opened["ann"] != nil {
		t.Error("a key that may be destroyed is held ready")
	}
	k.remember("ann", aead, k.forgotten)
	if k.opened["ann"] == nil {
		t.Error("a key that was read since is not held ready")
	}
}

func TestErasedOwnerIsGone(t *testing.T) {
	everyKind(t, func(t *testing.T, o Options) {
		s, ctx := open(t, o), t.Context()
		large := bytes.Repeat([]byte("x"), 2<<20)
		for _, owner := range []string{"ann", "bob"} {
			_, err := s.Events().Append(ctx, owner, "t", []byte("event"), 0)
			if err := errors.Join(err, s.Queue().Put(ctx, owner, "q", large), s.Kept().Put(ctx, owner, "k", large)); err != nil {
				t.Fatal(err)
			}
		}
		sealed, err := s.kept.area.stream.GetLastMsgForSubject(ctx, s.keys.subject("ann"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Erase(ctx, "ann"); err != nil {
				t.Fatal(err)
			}
		}
		for _, a := range s.areas() {
			if left, err := a.subjects(ctx, "ann.>"); err != nil || len(left) != 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		}
		if _, err := s.Kept().Get(ctx, "ann", "k"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what was erased gave %v", err)
		}
		if got, err := s.Kept().Get(ctx, "bob", "k"); err != nil || !bytes.Equal(got, large) {
			t.Errorf("another owner's value has %d bytes, %v", len(got), err)
		}
		if o.Dir != "" && onDisk(t, o.Dir, sealed.Data) {
			t.Error("the owner's key is still on the disk")
		}
		if err := s.Kept().Put(ctx, "ann", "k", []byte("again")); err != nil {
			t.Errorf("an erased owner cannot come back: %v", err)
		}
	})
}

// onDisk looks for bytes in all files of a folder.
func onDisk(t *testing.T, dir string, what []byte) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found = found || bytes.Contains(text, what)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNothingIsKeptInClear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, ctx, secret := open(t, Options{Dir: dir, Key: testKey}), t.Context(), []byte("ann@example.org")
	_, err := s.Events().Append(ctx, "ann", "t", secret, 0)
	err = errors.Join(err, s.Queue().Put(ctx, "ann", "q", secret), s.Kept().Put(ctx, "ann", "k", bytes.Repeat(secret, 1<<17)), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	if onDisk(t, dir, secret) || onDisk(t, dir, testKey) {
		t.Error("the value, or the key, is on the disk in clear")
	}
}

func TestValueDoesNotOpenUnderAnotherName(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, Options{Dir: t.TempDir(), Key: testKey}), t.Context()
	if err := s.Kept().Put(ctx, "ann", "one", []byte("value")); err != nil {
		t.Fatal(err)
	}
	m, err := s.kept.area.stream.GetLastMsgForSubject(ctx, "airlock.kept.ann.one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.Publish(ctx, "airlock.kept.ann.two", m.Data); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Kept().Get(ctx, "ann", "two"); err == nil {
		t.Errorf("moved to another name it opens as %q", got)
	}
}

func TestFolderIsForOneProcess(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Key: testKey}
	s := open(t, o)
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, o)
}

func TestStoreThatLostAPartIsRefused(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir(), Key: testKey}
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(o.Dir, "jetstream", "$G", "streams", "AIRLOCK_EVENTS")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "AIRLOCK_EVENTS") {
		t.Errorf("opened, %v; want an error that names the stream", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{"no key": {Dir: "x"}, "a short key": {Dir: "x", Key: testKey[:16]}, "no place": {Key: testKey}} {
		if _, err := Open(t.Context(), o); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestNamesOfAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	s, ctx := open(t, Options{Dir: t.TempDir(), Key: testKey}), t.Context()
	for _, name := range []string{"", "a.b", "*", ">", "a/", "/a", "a//b", "a b", "ann@example.org", strings.Repeat("a", 300)} {
		if err := s.Kept().Put(ctx, "ann", name, nil); !errors.Is(err, ErrName) {
			t.Errorf("the name %q gave %v", name, err)
		}
		if err := s.Kept().Put(ctx, name, "k", nil); !errors.Is(err, ErrName) {
			t.Errorf("the owner %q gave %v", name, err)
		}
	}
}

// TestOlderServerIsRefused greets as a server of another version does.
func TestOlderServerIsRefused(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(`INFO {"server_id":"old","version":"2.9.10","proto":1,"max_payload":1048576}` + "\r\nPONG\r\n"))
			work.Go(func() {
				_, _ = conn.Read(make([]byte, 4096))
				_ = conn.Close()
			})
		}
	})
	defer work.Wait()
	defer func() { _ = listener.Close() }()
	_, err = Open(t.Context(), Options{URL: "nats://" + listener.Addr().String(), Key: testKey})
	if err == nil || !strings.Contains(err.Error(), "2.9.10") || !strings.Contains(err.Error(), "2.11") {
		t.Errorf("got %v; want the version that is there and the one that is needed", err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{"2.11.0": true, "2.15.3": true, "3.0.0": true, "2.10.29": false, "1.4.1": false, "": false, "x.y.z": false} {
		if err := checkVersion(version); (err == nil) != ok {
			t.Errorf("%q gave %v", version, err)
		}
	}
}

// BenchmarkQueuePut measures how long a task takes to be safe when 500 come at once.
func BenchmarkQueuePut(b *testing.B) {
	s, err := Open(b.Context(), Options{Dir: b.TempDir(), Key: testKey})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const atOnce = 500
	value := make([]byte, 1000)
	var took []time.Duration
	n := 0
	for b.Loop() {
		var mu sync.Mutex // guards took
		var work sync.WaitGroup
		for i := range atOnce {
			work.Go(func() {
				begun := time.Now()
				err := s.Queue().Put(context.WithoutCancel(b.Context()), fmt.Sprint("owner", i%20), fmt.Sprint("t", n, "-", i), value)
				if err := errors.Join(err, s.Queue().Sync()); err != nil {
					b.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(begun))
			})
		}
		work.Wait()
		n++
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
}
