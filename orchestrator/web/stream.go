package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// patch is one change of the page, for static/app.js to make.
type patch struct {
	Do   string `json:"do"` // "append", "replace", "print", "status"
	At   string `json:"at"` // the element's id
	HTML string `json:"html,omitempty"`
	Text string `json:"text,omitempty"`
}

// patchPause is how long events are gathered before the page changes: more often than
// ten times a second nobody reads.
const patchPause = 100 * time.Millisecond

// maxEvent bounds one line of the API's stream: an approval's arguments are the largest.
const maxEvent = 40 << 20

// stream sends the patches that make of a turn, as it was at one event, the turn as it
// goes on. Its ids are the events' own, so that a reader who comes back gets the rest.
func (p *Page) stream(w http.ResponseWriter, r *http.Request, v *visit) error {
	after, err := lastSeen(r)
	if err != nil {
		return err
	}
	t, err := v.turn(r.Context(), r.PathValue("task"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events, err := v.events(ctx, t.ID, true)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	if _, err := io.WriteString(w, "retry: 1000\n\n"); err != nil {
		return nil //nolint:nilerr // the reader is gone
	}
	out := &patchWriter{page: p, turn: t, to: w, sent: after}
	for batch := range batches(ctx, events) {
		for _, e := range batch {
			t.apply(e)
			if e.Seq <= after {
				t.settle()
			}
		}
		if err := out.write(); err != nil {
			return nil //nolint:nilerr // the reader is gone, or will ask again for the rest
		}
	}
	return nil
}

// lastSeen is the event up to which the reader has the turn.
func lastSeen(r *http.Request) (int, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &problem{Status: http.StatusBadRequest, Message: "That is no number of an event.", Hint: "Reload the page."}
	}
	return n, nil
}

// events reads a task's events, from the first on. The channel is closed at the last of
// them, or when ctx ends, which it must.
func (v *visit) events(ctx context.Context, id string, follow bool) (<-chan event, error) {
	answer, err := v.open(ctx, http.MethodGet, taskPath(id, "/events?follow="+strconv.FormatBool(follow)), nil) //nolint:bodyclose // readEvents closes it
	if err != nil {
		return nil, err
	}
	events := make(chan event)
	go func() { // ends with ctx: the body fails then
		defer close(events)
		readEvents(ctx, answer.Body, events)
	}()
	return events, nil
}

// readEvents passes on what a stream holds until it or ctx ends, and closes it.
func readEvents(ctx context.Context, stream io.ReadCloser, to chan<- event) {
	defer stream.Close()
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e event
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		select {
		case to <- e:
		case <-ctx.Done():
			return
		}
	}
}

// batches gathers the events that come within a pause of the first.
func batches(ctx context.Context, events <-chan event) func(yield func([]event) bool) {
	return func(yield func([]event) bool) {
		for e := range events {
			batch := []event{e}
			timer := time.NewTimer(patchPause)
			for open := true; open; {
				select {
				case next, ok := <-events:
					if open = ok; ok {
						batch = append(batch, next)
					}
				case <-timer.C:
					open = false
				case <-ctx.Done():
					timer.Stop()
					return
				}
			}
			timer.Stop()
			if !yield(batch) {
				return
			}
		}
	}
}

// patchWriter sends the patches of one turn.
type patchWriter struct {
	page *Page
	turn *turn
	to   http.ResponseWriter
	sent int // the page has the turn up to this event
}

// write sends what has changed, if anything has.
func (w *patchWriter) write() error {
	if w.turn.Seq <= w.sent {
		return nil
	}
	patches, err := w.patches()
	if err != nil {
		return err
	}
	w.turn.settle()
	text, err := json.Marshal(patches)
	if err != nil {
		return fmt.Errorf("put patches into JSON: %w", err)
	}
	w.sent = w.turn.Seq
	message := fmt.Sprintf("id: %d\ndata: %s\n\n", w.turn.Seq, text)
	if !w.turn.Working() {
		message += "event: end\ndata: {}\n\n"
	}
	if _, err := io.WriteString(w.to, message); err != nil {
		return fmt.Errorf("send patches: %w", err)
	}
	w.to.(http.Flusher).Flush() // package api serves pages, which may always stream
	return nil
}

func (w *patchWriter) patches() ([]patch, error) {
	list := []patch{}
	add := func(do, at, template string, data any) error {
		html, err := w.page.piece(template, data)
		list = append(list, patch{Do: do, At: at, HTML: html})
		return err
	}
	for _, i := range w.turn.Items {
		if err := i.patches(add); err != nil {
			return nil, err
		}
		if i.more != "" && !i.fresh {
			list = append(list, patch{Do: "print", At: i.ID + "-out", Text: i.more})
		}
	}
	if w.turn.footer {
		if err := add("replace", "end-"+w.turn.ID, "turn-end", w.turn); err != nil {
			return nil, err
		}
		list = append(list, patch{Do: "status", At: w.turn.ID, Text: w.turn.Status})
	}
	return list, nil
}

// patches are those of one item. Only what changed is replaced, so that what a reader
// has opened or marked stays.
func (i *item) patches(add func(do, at, template string, data any) error) error {
	switch {
	case i.fresh:
		return add("append", "items-"+i.Turn.ID, "item", i)
	case !i.changed:
		return nil
	case i.Kind == kindCode:
		if err := add("replace", i.ID+"-head", "code-head", i); err != nil {
			return err
		}
		return add("replace", i.ID+"-calls", "code-calls", i)
	default:
		return add("replace", i.ID, "item", i)
	}
}
