package orchestrator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/pii"
)

// What is too long for a model is shortened by its structure: of a list it gets the
// first items and how many more there are, of lines the first and the last. So it
// sees what the whole looks like, and can read on in the file that keeps it.

// outlines are how much of each list, object and string is shown, tried in turn
// until all fits.
var outlines = []struct{ items, bytes int }{
	{1000, 2000}, {300, 1000}, {100, 400}, {40, 400}, {15, 200}, {6, 120}, {3, 60}, {1, 30},
}

// outlineDepth is how deep values are shown.
const outlineDepth = 12

var errOutline = errors.New("the outline is too long")

// shortJSON is a JSON document of at most max bytes that shows the structure of
// whole, which is JSON. A string in the place of items says how many are left out.
func shortJSON(v *pii.Vault, whole pii.Tokenized, maxBytes int) (json.RawMessage, error) {
	for _, o := range outlines {
		w := outliner{vault: v, items: o.items, bytes: o.bytes, max: maxBytes, from: json.NewDecoder(strings.NewReader(whole.String()))}
		w.from.UseNumber()
		switch err := w.value(0); {
		case err == nil:
			return w.to.Bytes(), nil
		case !errors.Is(err, errOutline):
			return nil, err
		}
	}
	return json.Marshal(pii.Cut(whole, maxBytes/2).String()) // quoting at most doubles it, but for what is rare
}

// outliner copies a JSON document and leaves out what is beyond its bounds.
type outliner struct {
	vault             *pii.Vault
	items, bytes, max int
	from              *json.Decoder
	to                bytes.Buffer
}

// value copies the next value.
func (w *outliner) value(depth int) error {
	token, err := w.from.Token()
	if err != nil {
		return fmt.Errorf("read a result for its outline: %w", err)
	}
	open, compound := token.(json.Delim)
	switch {
	case compound && depth >= outlineDepth:
		w.to.WriteString(`"..."`)
		err = w.skip(1)
	case compound:
		err = w.list(open, depth+1)
	default:
		err = w.scalar(token)
	}
	if err == nil && w.to.Len() > w.max {
		return errOutline
	}
	return err
}

// list copies the members of an object or array that has been opened.
func (w *outliner) list(open json.Delim, depth int) error {
	w.to.WriteByte(byte(open))
	count := 0
	for ; w.from.More(); count++ {
		if count >= w.items {
			if err := w.skipValue(open); err != nil {
				return err
			}
			continue
		}
		if count > 0 {
			w.to.WriteByte(',')
		}
		if open == '{' {
			if err := w.value(depth); err != nil { // the key
				return err
			}
			w.to.WriteByte(':')
		}
		if err := w.value(depth); err != nil {
			return err
		}
	}
	if more := count - w.items; more > 0 {
		w.to.WriteByte(',')
		if open == '{' {
			w.to.WriteString(`"...":`)
		}
		fmt.Fprintf(&w.to, `"... %d more"`, more)
	}
	end, err := w.from.Token()
	if err != nil {
		return fmt.Errorf("read a result for its outline: %w", err)
	}
	fmt.Fprint(&w.to, end)
	return nil
}

// skipValue passes over an item, with its key in an object.
func (w *outliner) skipValue(within json.Delim) error {
	if within == '{' {
		if _, err := w.from.Token(); err != nil {
			return fmt.Errorf("read a result for its outline: %w", err)
		}
	}
	return w.skip(0)
}

// skip passes over the rest of what is open so many levels deep, or over one value.
func (w *outliner) skip(open int) error {
	for {
		token, err := w.from.Token()
		if err != nil {
			return fmt.Errorf("read a result for its outline: %w", err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
		if open == 0 {
			return nil
		}
	}
}

// scalar copies a value that holds no others; a long string is cut, never within a
// token for a personal value.
func (w *outliner) scalar(token json.Token) error {
	if s, ok := token.(string); ok && len(s) > w.bytes {
		whole, err := w.vault.Tokenize(pii.NewRaw(s), pii.OriginScript)
		if err != nil {
			return fmt.Errorf("tokenize a result for its outline: %w", err)
		}
		token = pii.Cut(whole, w.bytes).String() + "..."
	}
	text, err := json.Marshal(token)
	if err != nil {
		return fmt.Errorf("write a result's outline: %w", err)
	}
	w.to.Write(text)
	return nil
}

var (
	gap     = pii.Static("[...]\n")
	newline = pii.Static("\n")
)

// shortLines are the first and the last lines of whole, at most about max bytes: the
// end of an output is where it says how it went.
func shortLines(whole pii.Tokenized, maxBytes int) pii.Tokenized {
	lines := slices.Collect(pii.Lines(whole))
	head, headBytes := 0, 0
	for head < len(lines) && headBytes+lines[head].Len() < maxBytes*2/3 {
		headBytes += lines[head].Len() + 1
		head++
	}
	tail, tailBytes := len(lines), 0
	for tail > head && headBytes+tailBytes+lines[tail-1].Len() < maxBytes {
		tailBytes += lines[tail-1].Len() + 1
		tail--
	}
	if head == 0 && tail == len(lines) { // of long lines only
		return pii.Cut(whole, maxBytes)
	}
	var parts []pii.Tokenized
	for _, line := range lines[:head] {
		parts = append(parts, line, newline)
	}
	parts = append(parts, gap)
	for _, line := range lines[tail:] {
		parts = append(parts, line, newline)
	}
	return pii.Join(parts...)
}
