package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
)

// eventStream is the media type of Server-Sent Events.
const eventStream = "text/event-stream"

const (
	// heartbeat keeps proxies from closing a quiet stream.
	heartbeat = 15 * time.Second
	// goneCheck is how often it is looked whether the client is still there.
	goneCheck = 500 * time.Millisecond
	// callerCheck is how often it is looked whether the caller's credential still counts.
	callerCheck = 2 * time.Second
	// stallTime is how long a client may take nothing of an event.
	stallTime = time.Minute
	// partingTime is how long what was written may take to leave at the server's end.
	partingTime = time.Second
)

// getEvents streams the events of a task: all of them, or those after the one that
// the header Last-Event-ID names. With follow=false it ends with those that there are.
func (s *Server) getEvents(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	after := 0
	if last := c.Get("Last-Event-ID"); last != "" {
		if after, err = strconv.Atoi(last); err != nil || after < 0 {
			return problem{fiber.StatusBadRequest, "invalid_request", "the header Last-Event-ID is no event's number", "send the id of the last event that arrived, or leave the header out"}
		}
	}
	leave, err := s.streams.enter(user)
	if err != nil {
		return err
	}
	if err := s.sendEvents(c, user, ident.Task(c.Params("id")), after, c.QueryBool("follow", true), leave); err != nil {
		leave()
		return err
	}
	return nil
}

// streamEvents answers with the events of a task after one of them, until its last.
func (s *Server) streamEvents(c *fiber.Ctx, user ident.User, id ident.Task, after int) error {
	return s.sendEvents(c, user, id, after, true, func() {})
}

// sendEvents calls ended when the stream that it began is over.
func (s *Server) sendEvents(c *fiber.Ctx, user ident.User, id ident.Task, after int, follow bool, ended func()) error {
	task, err := s.opts.Service.Task(user, id)
	if err != nil {
		return err
	}
	events := &eventWriter{after: after, presenter: presenter{vault: task.Vault, real: callerOf(c).Rights.Reveal}}
	f := &follower{server: s, user: user, id: id, conn: c.Context().Conn(), authorized: s.stillAuthorized(c), write: events.write, once: !follow}
	c.Set(fiber.HeaderContentType, eventStream)
	c.Set("X-Accel-Buffering", "no")
	log := s.log(c)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer ended()
		if err := f.follow(s.ctx, w); err != nil {
			log.Debug("a stream of events ended early", zap.String("task", string(id)), zap.String("session", string(task.Session)), zap.Error(err))
		}
	})
	return nil
}

// eventWriter writes events as they are.
type eventWriter struct {
	after     int // events up to here are not sent
	presenter presenter
}

func (w *eventWriter) write(out *bufio.Writer, e orchestrator.Event) error {
	view, err := w.presenter.present(e)
	if err != nil || e.Seq <= w.after {
		return err
	}
	data, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("put an event into JSON: %w", err)
	}
	if _, err := fmt.Fprintf(out, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type, data); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	return nil
}

// follower gives the events of one task to one client.
type follower struct {
	server *Server
	user   ident.User
	id     ident.Task
	seen   int  // events up to here were given to write
	once   bool // ends with the events that there are
	conn   net.Conn
	// authorized fails once the caller may not follow any more.
	authorized func() error
	checked    time.Time // when it was asked last
	write      func(*bufio.Writer, orchestrator.Event) error
}

// follow ends with the task's last event, with ctx, or when the client is gone.
func (f *follower) follow(ctx context.Context, w *bufio.Writer) error {
	beat, look := time.NewTicker(heartbeat), time.NewTicker(goneCheck)
	defer beat.Stop()
	defer look.Stop()
	defer context.AfterFunc(ctx, func() { f.mayTake(ctx) })()
	for {
		events, more, err := f.server.opts.Service.Events(f.user, f.id, f.seen)
		if err != nil {
			return err
		}
		if err := f.mayFollow(); err != nil {
			return err
		}
		final, err := f.send(ctx, w, events)
		if err != nil || final || f.once {
			return err
		}
		if err := f.wait(ctx, w, more, beat.C, look.C); err != nil {
			return err
		}
	}
}

// wait returns when there is more, or no use in waiting.
func (f *follower) wait(ctx context.Context, w *bufio.Writer, more <-chan struct{}, beat, look <-chan time.Time) error {
	for {
		select {
		case <-more:
			return nil
		case <-beat:
			f.mayTake(ctx)
			if _, err := io.WriteString(w, ":\n\n"); err != nil {
				return fmt.Errorf("send a heartbeat: %w", err)
			}
			if err := w.Flush(); err != nil {
				return fmt.Errorf("send a heartbeat: %w", err)
			}
		case <-look:
			if gone(f.conn) {
				return net.ErrClosed
			}
			if err := f.mayFollow(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// mayFollow asks from time to time whether the caller still may. Where that cannot be
// told the stream ends too: its client can ask for the rest of it.
func (f *follower) mayFollow() error {
	if time.Since(f.checked) < callerCheck {
		return nil
	}
	f.checked = time.Now()
	if err := f.authorized(); err != nil {
		return fmt.Errorf("the caller may not follow any more: %w", err)
	}
	return nil
}

// mayTake gives the client time to take what is written next: who reads nothing holds
// neither the stream nor the server's end up. A connection in memory is left alone: its
// client is our own, and its deadlines are for one goroutine only.
func (f *follower) mayTake(ctx context.Context) {
	if _, ok := f.conn.(syscall.Conn); !ok {
		return
	}
	_ = f.conn.SetWriteDeadline(time.Now().Add(stallTime))
	if ctx.Err() != nil { // looked at last: the end may come meanwhile
		_ = f.conn.SetWriteDeadline(time.Now().Add(partingTime))
	}
}

// send writes events; final says that the last of them ends the task.
func (f *follower) send(ctx context.Context, w *bufio.Writer, events []orchestrator.Event) (final bool, err error) {
	for _, e := range events {
		f.mayTake(ctx)
		f.seen, final = e.Seq, e.Type.Final()
		if err := f.write(w, e); err != nil {
			return false, err
		}
	}
	if err := w.Flush(); err != nil {
		return false, fmt.Errorf("send events: %w", err)
	}
	return final, nil
}
