package mirror

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"airlock/orchestrator/state"
)

// BenchmarkPush tells what keeping a workspace of 50 files costs when a script changed
// one of 10 KB, and when it changed nothing, in a store in this process and in a cluster
// of three servers.
func BenchmarkPush(b *testing.B) {
	stores := map[string]func(testing.TB) Store{
		"embedded": func(t testing.TB) Store { return openStore(t) },
		"cluster":  openCluster,
	}
	for _, name := range []string{"embedded", "cluster"} {
		s := newSide(b, stores[name](b), true)
		for i := range 50 {
			s.write(fmt.Sprint("file", i), strings.Repeat("x", 10_000))
		}
		s.push()
		b.Run(name+"/one file of 10 KB", func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				s.write("result.json", strings.Repeat("x", 10_000)+fmt.Sprint(n))
				s.push()
			}
		})
		b.Run(name+"/nothing", func(b *testing.B) {
			for b.Loop() {
				s.push()
			}
		})
		b.Run(name+"/pull of nothing", func(b *testing.B) {
			for b.Loop() {
				s.pull()
			}
		})
	}
}

// openCluster opens a store in three servers of its own.
func openCluster(t testing.TB) Store {
	t.Helper()
	var routes, url string
	var nodes []*server.Server
	for i := range 3 {
		node, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, ServerName: fmt.Sprint("node", i),
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: -1}, Routes: server.RoutesFromStr(routes),
		})
		must(t, err)
		node.Start()
		t.Cleanup(func() { node.Shutdown(); node.WaitForShutdown() })
		if !node.ReadyForConnections(time.Minute) {
			t.Fatal("a server did not start")
		}
		routes, url = "nats://"+node.ClusterAddr().String(), node.ClientURL()
		nodes = append(nodes, node)
	}
	led := func(n *server.Server) bool {
		return n.JetStreamIsLeader() && len(n.JetStreamClusterPeers()) == len(nodes)
	}
	for range time.Tick(10 * time.Millisecond) {
		if slices.ContainsFunc(nodes, led) {
			break
		}
		must(t, t.Context().Err())
	}
	s, err := state.Open(t.Context(), state.Options{URL: url, Key: bytes.Repeat([]byte{7}, state.KeySize)})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s.Kept()
}
