package api

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"time"

	"airlock/ident"
)

// tryAgain is how long after a broken connection the same request counts as another
// try of it.
const tryAgain = 10 * time.Minute

// maxTries bounds the requests that are remembered.
const maxTries = 10_000

// tries remember which task a chat's request has begun: clients send a request again
// when its connection breaks, and the work must not be done twice.
type tries struct {
	mu   sync.Mutex // guards all below and the tries' fields
	byID map[[sha256.Size]byte]*try
}

// try is a request that has begun a task and was not answered in full.
type try struct {
	id      [sha256.Size]byte
	task    ident.Task
	watched int       // answers being given
	since   time.Time // when the last connection broke; zero before
}

func newTries() *tries { return &tries{byID: map[[sha256.Size]byte]*try{}} }

// tryID is the same for the same request: a session's header is part of it.
func tryID(user ident.User, session ident.Session, body []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte(string(user)+"\x00"+string(session)+"\x00"), body...))
}

// find gives the earlier try of a request, if this is one of it: its client says so
// by counting, or the earlier connection broke not long ago.
func (t *tries) find(user ident.User, session ident.Session, body []byte, count string) *try {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, _ := strconv.Atoi(count)
	earlier := t.byID[tryID(user, session, body)]
	if earlier == nil || n == 0 && (earlier.since.IsZero() || earlier.watched > 0) || earlier.old() {
		return nil
	}
	earlier.watched++
	return earlier
}

func (t *try) old() bool { return t.watched == 0 && time.Since(t.since) > tryAgain }

// begin remembers the task of a request.
func (t *tries) begin(user ident.User, session ident.Session, body []byte, task ident.Task) *try {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := &try{id: tryID(user, session, body), task: task, watched: 1}
	if len(t.byID) >= maxTries {
		t.forgetOld()
	}
	if len(t.byID) < maxTries {
		t.byID[fresh.id] = fresh
	}
	return fresh
}

// broken notes that an answer did not arrive.
func (t *tries) broken(one *try) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.watched--
	one.since = time.Now()
}

// end forgets a try that was answered.
func (t *tries) end(one *try) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.watched--
	if t.byID[one.id] == one {
		delete(t.byID, one.id)
	}
}

func (t *tries) forgetOld() {
	for id, one := range t.byID {
		if one.old() {
			delete(t.byID, id)
		}
	}
}
