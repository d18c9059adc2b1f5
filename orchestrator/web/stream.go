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
	Do   string `json:"do"` // "append", "replace", "print", "fill", "fold", "status", "title"
	At   string `json:"at"` // the element's id, or the task's of "status" and "title"
	HTML string `json:"html,omitempty"`
	Text string `json:"text,omitempty"`
}

// patchPause is how long events are gathered before the page changes: more often than
// ten times a second nobody reads.
const patchPause = 100 * time.Millisecond

// beatPause is how long a stream is silent at most: proxies keep it open then, and the
// page knows a dead connection.
const beatPause = 15 * time.Second

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
	out := &patchWriter{page: p, turn: t, to: w, sent: after, lacksTask: r.URL.Query().Get("asked") != ""}
	for batch := range batches(ctx, events) {
		for _, e := range batch {
			t.apply(e)
			if e.Seq <= after {
				t.settle()
			}
		}
		if out.lacksTask && t.Task == "" {
			v.askedOf(ctx, t)
		}
		if err := out.write(len(batch) == 0); err != nil {
			return nil //nolint:nilerr // the reader is gone, or will ask again for the rest
		}
	}
	if !t.Working() { // otherwise the reader comes back for the rest
		_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
	}
	return nil
}

// askedOf asks again for a turn's text, which the API tells once the task has begun. One
// that cannot be had is asked for the next time.
func (v *visit) askedOf(ctx context.Context, t *turn) {
	var now task
	if err := v.get(ctx, taskPath(t.ID, ""), &now); err == nil {
		t.Task = now.Task
	}
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

// batches gathers the events that come within a pause of the first. It yields an empty
// batch where nothing came for long.
func batches(ctx context.Context, events <-chan event) func(yield func([]event) bool) {
	return func(yield func([]event) bool) {
		beat := time.NewTicker(beatPause)
		defer beat.Stop()
		for {
			var batch []event
			select {
			case e, ok := <-events:
				if !ok {
					return
				}
				batch = gather(ctx, e, events)
			case <-beat.C:
			}
			if ctx.Err() != nil || !yield(batch) {
				return
			}
			beat.Reset(beatPause)
		}
	}
}

// gather is the batch that begins with one event.
func gather(ctx context.Context, first event, events <-chan event) []event {
	batch := []event{first}
	timer := time.NewTimer(patchPause)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return batch
			}
			batch = append(batch, e)
		case <-timer.C:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
}

// patchWriter sends the patches of one turn.
type patchWriter struct {
	page *Page
	turn *turn
	to   http.ResponseWriter
	sent int // the page has the turn up to this event
	// lacksTask says that the page was made before the task's text could be had.
	lacksTask bool
}

// write sends what has changed, or a sign of life where one is due and nothing has.
func (w *patchWriter) write(beat bool) error {
	patches, err := w.patches()
	switch {
	case err != nil:
		return err
	case len(patches) == 0 && w.turn.Seq <= w.sent && !beat:
		return nil
	case len(patches) == 0 && w.turn.Seq <= w.sent:
		return w.send("event: beat\ndata: {}\n\n")
	}
	w.turn.settle()
	text, err := json.Marshal(patches)
	if err != nil {
		return fmt.Errorf("put patches into JSON: %w", err)
	}
	w.sent = max(w.sent, w.turn.Seq)
	return w.send(fmt.Sprintf("id: %d\ndata: %s\n\n", w.sent, text))
}

func (w *patchWriter) send(message string) error {
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
	if w.lacksTask && w.turn.Task != "" {
		w.lacksTask = false
		title := chatsOf([]task{w.turn.task})[0].Title
		list = append(list, patch{Do: "fill", At: "asked-" + w.turn.ID, Text: w.turn.Task}, patch{Do: "title", At: w.turn.ID, Text: title})
	}
	for _, i := range w.turn.Items {
		if err := i.patches(add); err != nil {
			return nil, err
		}
		if i.Kind == kindCode && i.changed && !i.fresh && !i.Open() {
			list = append(list, patch{Do: "fold", At: i.ID})
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
