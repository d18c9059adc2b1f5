package state

import (
	"errors"
	"maps"
	"sync"
	"testing"
	"time"
)

// quickPace makes deaths show soon.
var quickPace = pace{beat: 50 * time.Millisecond, lost: time.Second, missed: 24}

// member joins by a connection of its own.
func member(t *testing.T, o Options, url string) *Members {
	t.Helper()
	m, err := open(t, o).join(t.Context(), url, quickPace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lives(t *testing.T, m *Members, id string) (url string, lives bool) {
	t.Helper()
	url, lives, err := m.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return url, lives
}

func TestMembersKnowWhoLives(t *testing.T) {
	t.Parallel()
	o := Options{URL: startServer(t, nil).ClientURL(), Key: testKey}
	one, two := member(t, o, "http://one"), member(t, o, "http://two")
	if url, ok := lives(t, one, two.Self()); !ok || url != "http://two" { // who joined after it
		t.Errorf("the other one: %v at %q", ok, url)
	}
	if url, ok := lives(t, two, one.Self()); !ok || url != "http://one" {
		t.Errorf("the one before: %v at %q", ok, url)
	}
	if url, ok := lives(t, one, one.Self()); !ok || url != "http://one" {
		t.Errorf("itself: %v at %q", ok, url)
	}
	for _, id := range []string{"", "nobody"} {
		if _, ok := lives(t, one, id); ok {
			t.Errorf("%q lives", id)
		}
	}
	if others := one.Others(); !maps.Equal(others, map[string]string{two.Self(): "http://two"}) {
		t.Errorf("beside it are %v", others)
	}
	gone := two.Self()
	waitFor(t, "sign of the other", func() bool { return len(one.Others()) == 1 })
	drain(one.Changes())
	if err := two.Leave(); err != nil {
		t.Fatal(err)
	}
	<-one.Changes()
	one.mu.Lock()
	missed := one.peers[gone].missed
	one.mu.Unlock()
	if _, ok := lives(t, one, gone); ok || missed > quickPace.missed+1 {
		t.Errorf("who left lives: %v; it was missed %d times", ok, missed)
	}
	if two.Self() != "" {
		t.Error("who left still has a name")
	}
	if err := one.Leave(); err != nil {
		t.Fatal(err)
	}
}

func TestMemberThatFallsSilentIsDead(t *testing.T) {
	t.Parallel()
	o := Options{URL: startServer(t, nil).ClientURL(), Key: testKey}
	one, two := member(t, o, ""), member(t, o, "")
	gone := two.Self()
	waitFor(t, "sign of the other", func() bool { _, ok := lives(t, one, gone); return ok })
	drain(one.Changes())
	two.end() // as kill -9 ends it
	<-two.over
	<-one.Changes()
	if _, ok := lives(t, one, gone); ok {
		t.Error("who changed is not the one that fell silent")
	}
	if len(one.Others()) != 0 {
		t.Errorf("beside it are %v", one.Others())
	}
	if two.Self() != "" {
		t.Error("it has not counted itself out before the others did")
	}
	if err := one.Leave(); err != nil {
		t.Fatal(err)
	}
}

func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// TestMembersOutliveTheStore takes the server away for longer than a member may be cut
// off: nobody may be taken for dead by one who heard nothing, and all come back under
// other names.
func TestMembersOutliveTheStore(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t)
	urls := nodes[0].ClientURL() + "," + nodes[1].ClientURL() + "," + nodes[2].ClientURL()
	one, two := member(t, Options{URL: urls, Key: testKey}, ""), member(t, Options{URL: urls, Key: testKey}, "")
	before := []string{one.Self(), two.Self()}
	waitFor(t, "sign of the other", func() bool { return len(one.Others()) == 1 && len(two.Others()) == 1 })
	for _, node := range nodes[1:] { // the last one is too few
		node.Shutdown()
		node.WaitForShutdown()
	}
	waitFor(t, "end of their membership", func() bool { return one.Self() == "" && two.Self() == "" })
	if len(one.Others()) != 1 || len(two.Others()) != 1 {
		t.Error("who hears nothing takes the other one for dead")
	}
	for range 2 {
		if _, ok := lives(t, one, before[0]); ok {
			t.Error("who is cut off counts itself among the living")
		}
	}
	if err := errors.Join(leaveQuietly(one), leaveQuietly(two)); err != nil {
		t.Fatal(err)
	}
}

// leaveQuietly ends a member where the store is away.
func leaveQuietly(m *Members) error {
	if err := m.Leave(); err == nil {
		return errors.New("it left a store that is away")
	}
	return nil
}

func TestMemberComesBackUnderAnotherName(t *testing.T) {
	t.Parallel()
	server := startServer(t, nil)
	m := member(t, Options{URL: server.ClientURL(), Key: testKey}, "")
	before := m.Self()
	m.mu.Lock()
	m.sent = time.Now().Add(-time.Hour) // it was cut off
	m.mu.Unlock()
	waitFor(t, "new member", func() bool { return m.Self() != "" })
	if m.Self() == before {
		t.Error("it came back under its name")
	}
	if _, ok := lives(t, m, before); ok {
		t.Error("who it was lives on")
	}
	if err := m.Leave(); err != nil {
		t.Fatal(err)
	}
}

// TestLostAnswerIsNoConflict sends a message whose answer is lost, so that it is sent
// again, to a server that does not know its id any more.
func TestLostAnswerIsNoConflict(t *testing.T) {
	t.Parallel()
	s := open(t, Options{URL: startServer(t, nil).ClientURL(), Key: testKey})
	ctx := t.Context()
	first, err := s.Events().Append(ctx, "ann", "t", []byte("one"), 0)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.events.area.last(ctx, "airlock.events.ann.t")
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Get("Nats-Msg-Id") == "" {
		t.Fatalf("the message has no id: %v", m.Header)
	}
	if number := s.events.area.ours(ctx, m.Subject, m.Header.Get("Nats-Msg-Id")); number != first {
		t.Errorf("the message is known again as %d, want %d", number, first)
	}
	if number := s.events.area.ours(ctx, m.Subject, "another"); number != 0 {
		t.Errorf("another's message is taken for ours: %d", number)
	}
}

// TestTwoProcessesMakeAStoreAtOnce opens a store that nobody has made from two sides, as
// processes do that are started together.
func TestTwoProcessesMakeAStoreAtOnce(t *testing.T) {
	t.Parallel()
	o := Options{URL: startCluster(t)[0].ClientURL(), Key: testKey}
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			s, err := Open(t.Context(), o)
			if err == nil {
				err = s.Kept().Put(t.Context(), "ann", "k", nil)
			}
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}
