package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// pace says how soon the death of a member is noticed. A cluster that lost a server
// takes up to 9 s to find a new leader, which must kill no member.
type pace struct {
	beat time.Duration // between two signs of life
	// lost is how long after its last sign of life a member counts itself out: before
	// the others do, so that nobody takes over from one who still works.
	lost time.Duration
	// missed is how many times in a row a member was heard of and another was not, for
	// that one to be dead. A time in which nobody can be heard of counts for nobody.
	missed int
}

var usualPace = pace{beat: time.Second, lost: 14 * time.Second, missed: 17}

const (
	membersStream = "AIRLOCK_MEMBERS"
	membersPrefix = "airlock.members."
	// signAge is how long a sign of life is kept, for those who join later.
	signAge = time.Minute
)

// Members are the processes that share a Store, with this one among them. A member
// gives signs of life; one that gives none any more is dead, also where it only lost the
// way to the Store. It knows so itself, before the others do. Its methods may be called
// concurrently.
type Members struct {
	store   *Store
	url     string
	pace    pace
	stream  jetstream.Stream
	changes chan struct{}
	end     context.CancelFunc
	over    chan struct{}
	alarm   *time.Timer // rings when this process counts itself out

	reading sync.Mutex // held while signs are read; guards read
	read    uint64     // signs up to here were read

	mu    sync.Mutex // guards all below
	id    string
	sent  time.Time       // when the last sign that arrived was sent
	names map[string]bool // that this process has had
	next  string          // the name after this one, once it is needed
	peers map[string]*peer
}

// peer is another member, living or dead.
type peer struct {
	url    string
	missed int
}

// Join makes this process a member of those that share an external Store, until Leave.
// url is where the others reach it; it may be empty.
func (s *Store) Join(ctx context.Context, url string) (*Members, error) {
	return s.join(ctx, url, usualPace)
}

func (s *Store) join(ctx context.Context, url string, p pace) (*Members, error) {
	stream, err := s.openStream(ctx, jetstream.StreamConfig{
		Name: membersStream, Subjects: []string{membersPrefix + "*"}, Storage: jetstream.FileStorage, Replicas: s.replicas(),
		MaxAge: signAge, MaxMsgsPerSubject: 1,
	})
	if err != nil {
		return nil, err
	}
	m := &Members{store: s, url: url, pace: p, stream: stream, changes: make(chan struct{}, 1), over: make(chan struct{}), names: map[string]bool{}, peers: map[string]*peer{}}
	m.alarm = time.AfterFunc(p.lost, m.changed)
	if err := s.again(ctx, m.round); err != nil {
		m.alarm.Stop()
		return nil, fmt.Errorf("join the processes that share the store: %w", err)
	}
	ctx, m.end = context.WithCancel(context.WithoutCancel(ctx))
	go m.run(ctx) // ends with Leave
	return m, nil
}

// Self is the name of this process among the members: another one after each time that
// it was cut off. It is empty while it is.
func (m *Members) Self() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.self()
}

// self is Self with the lock held.
func (m *Members) self() string {
	if time.Since(m.sent) >= m.pace.lost {
		return ""
	}
	return m.id
}

// Changes gets one when Self, or who lives, may have changed.
func (m *Members) Changes() <-chan struct{} { return m.changes }

// Others are the members that live beside this one: where each is reached, by name.
func (m *Members) Others() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	others := map[string]string{}
	for id, p := range m.peers {
		if p.missed < m.pace.missed {
			others[id] = p.url
		}
	}
	return others
}

// Find says whether a member lives and where it is reached.
func (m *Members) Find(ctx context.Context, id string) (url string, lives bool, err error) {
	if id == "" {
		return "", false, nil
	}
	if url, lives, known := m.known(id); known {
		return url, lives, nil
	}
	if _, err := m.readSigns(ctx); err != nil { // it may have joined just now
		return "", false, err
	}
	url, lives, _ = m.known(id)
	return url, lives, nil
}

func (m *Members) known(id string) (url string, lives, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == m.id {
		return m.url, m.self() != "", true
	}
	p := m.peers[id]
	if p == nil {
		return "", false, m.names[id]
	}
	return p.url, p.missed < m.pace.missed, true
}

// Leave ends the membership: the others need not wait to see that this process is gone.
func (m *Members) Leave() error {
	m.end()
	<-m.over
	m.alarm.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), m.pace.lost)
	defer cancel()
	m.mu.Lock()
	id := m.id
	m.sent = time.Time{}
	m.mu.Unlock()
	if err := m.publish(ctx, id, leaving); err != nil {
		return fmt.Errorf("leave the processes that share the store: %w", err)
	}
	return nil
}

// What a sign says begins with one of these.
const (
	living  = "+" // the member's URL follows
	leaving = "-"
)

func (m *Members) publish(ctx context.Context, id, says string) error {
	subject := membersPrefix + id
	_, err := m.store.js.Publish(ctx, subject, m.store.keys.master.Seal(nil, nil, []byte(says), []byte(subject)))
	return err
}

func (m *Members) changed() {
	select {
	case m.changes <- struct{}{}:
	default:
	}
}

// run gives signs of life and listens for those of others.
func (m *Members) run(ctx context.Context) {
	defer close(m.over)
	tick := time.NewTicker(m.pace.beat)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := m.round(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			m.store.opts.Log.Warn("no sign of life reached the store; without one for long this process stops its tasks, and others go on with them", zap.Error(err))
		}
		failing = err != nil
	}
}

// round gives one sign of life and listens once.
func (m *Members) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(m.pace.beat, m.pace.lost/5))
	defer cancel()
	if err := m.sign(ctx); err != nil {
		return err
	}
	heard, err := m.readSigns(ctx)
	if err != nil {
		return err
	}
	m.count(heard)
	return nil
}

// sign gives a sign of life.
func (m *Members) sign(ctx context.Context) error {
	sent := time.Now()
	id, fresh := m.name()
	if err := m.publish(ctx, id, living+m.url); err != nil {
		return fmt.Errorf("give a sign of life: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !fresh && m.self() != id {
		return nil // it came too late; the next one is of a new member
	}
	m.id, m.sent = id, sent
	m.alarm.Reset(time.Until(sent.Add(m.pace.lost)))
	if fresh {
		m.next = ""
		m.changed()
	}
	return nil
}

// name is the one to sign by: a fresh one if this process was cut off, since what was
// its own by the old one may be another's by now.
func (m *Members) name() (id string, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := m.self(); id != "" {
		return id, false
	}
	if m.next == "" {
		m.next = strings.ToLower(rand.Text())
		m.names[m.next] = true
	}
	return m.next, true
}

// readSigns takes in the signs of life that are new, and says whose they are.
func (m *Members) readSigns(ctx context.Context) (heard []string, err error) {
	m.reading.Lock()
	defer m.reading.Unlock()
	for {
		sign, err := m.stream.GetMsg(ctx, m.read+1, jetstream.WithGetMsgSubject(membersPrefix+"*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return heard, nil
		}
		if err != nil {
			return heard, fmt.Errorf("look for signs of life: %w", err)
		}
		m.read = sign.Sequence
		says, err := m.store.keys.master.Open(nil, nil, sign.Data, []byte(sign.Subject))
		if err != nil {
			continue // of another key: nobody of ours
		}
		id := strings.TrimPrefix(sign.Subject, membersPrefix)
		if m.meet(id, string(says)) {
			heard = append(heard, id)
		}
	}
}

// meet takes in a sign, and reports whether its member lives.
func (m *Members) meet(id, says string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	url, lives := strings.CutPrefix(says, living)
	switch {
	case m.names[id]:
		return false
	case lives:
		m.peers[id] = &peer{url: url}
	default:
		m.peers[id] = &peer{missed: m.pace.missed}
		m.changed()
	}
	return lives
}

// count notes who was not heard of in a round.
func (m *Members) count(heard []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.self() == "" {
		return
	}
	left := int(signAge/m.pace.beat) + m.pace.missed // after which no sign is kept any more
	for id, p := range m.peers {
		p.missed++
		switch {
		case p.missed == m.pace.missed:
			m.changed()
		case p.missed > left:
			delete(m.peers, id)
		}
	}
	for _, id := range heard {
		if p := m.peers[id]; p != nil {
			p.missed = 0
		}
	}
}
