package state

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// tryTime is how long one answer of an external Store is waited for. While a cluster
	// looks for a new leader there is none, or it is lost.
	tryTime = 3 * time.Second
	// tryAgain is how long to wait before the next try.
	tryAgain = 200 * time.Millisecond
	// stubborn is how long an external Store is asked in all, where its caller sets no end.
	stubborn = 20 * time.Second
)

// again asks an external Store until it answers, each time for tryTime, as long as ctx
// allows, or stubborn where it sets no end. op must do no harm when it is done twice.
func (s *Store) again(ctx context.Context, op func(context.Context) error) error {
	return s.againFor(ctx, tryTime, op)
}

// againFor takes how long each try may take.
func (s *Store) againFor(ctx context.Context, each time.Duration, op func(context.Context) error) error {
	if s.server != nil {
		return op(ctx)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stubborn)
		defer cancel()
	}
	for {
		err := try(ctx, each, op)
		if err == nil || !isPassing(err) || s.conn.IsClosed() {
			return err
		}
		if pause(ctx, tryAgain) != nil {
			return err
		}
	}
}

// pause waits for a time, or fails with ctx.
func pause(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func try(ctx context.Context, most time.Duration, op func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return op(ctx)
}

// isPassing reports an error of a cluster that may answer soon.
func isPassing(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code == 503 || refused.ErrorCode == codeInProcess
	}
	for _, passing := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, jetstream.ErrNoStreamResponse,
		nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// codeInProcess is the server's word for a message that it has and is not done with
// (JSStreamDuplicateMessageConflict).
const codeInProcess = 10158

// publish sends a message until it is known what became of it, and gives its number.
// When an answer was lost the message may be there already: it has an id, by which the
// server knows it again, and where another server answers, so do we.
func (a *area) publish(ctx context.Context, m *nats.Msg, how ...jetstream.PublishOpt) (number uint64, err error) {
	if a.store.server == nil {
		m.Header.Set(jetstream.MsgIDHeader, rand.Text())
	}
	tries := 0
	err = a.store.again(ctx, func(ctx context.Context) error {
		tries++
		ack, err := a.store.js.PublishMsg(ctx, m, how...)
		if err == nil {
			number = ack.Sequence
		}
		return err
	})
	if tries > 1 && isConflict(err) {
		if number := a.ours(ctx, m.Subject, m.Header.Get(jetstream.MsgIDHeader)); number > 0 {
			return number, nil
		}
	}
	return number, err
}

// ours is the number of the last message under a subject if it has that id, else 0.
func (a *area) ours(ctx context.Context, subject, id string) uint64 {
	m, err := a.last(ctx, subject)
	if err != nil || m.Header.Get(jetstream.MsgIDHeader) != id {
		return 0
	}
	return m.Sequence
}

// last gives the message that is last under a subject.
func (a *area) last(ctx context.Context, subject string) (m *jetstream.RawStreamMsg, err error) {
	err = a.store.again(ctx, func(ctx context.Context) (err error) {
		m, err = a.stream.GetLastMsgForSubject(ctx, subject)
		return err
	})
	return m, err
}

// next gives the first message under a subject from a number on.
func (a *area) next(ctx context.Context, subject string, from uint64) (m *jetstream.RawStreamMsg, err error) {
	err = a.store.again(ctx, func(ctx context.Context) (err error) {
		m, err = a.stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(subject))
		return err
	})
	return m, err
}
