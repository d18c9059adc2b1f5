package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/servers/internal/document"
)

// empty is what a catalog begins with.
const empty = "{\n  \"schemaVersion\": 1\n}\n"

// Merge adds the inputs and servers to a catalog and keeps every other byte of
// it. An input that the catalog has already must come from the same place; a
// server of the same name is an error. With an empty catalog it makes a new one.
func (r *Result) Merge(catalog []byte) ([]byte, error) {
	if len(bytes.TrimSpace(catalog)) == 0 {
		catalog = []byte(empty)
	}
	root, err := document.Parse(catalog)
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	inputs, err := r.newInputs(root)
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, s := range r.Servers {
		if root.Member("servers").Member(s.Name) != nil {
			taken = append(taken, s.Name)
		}
	}
	if len(taken) > 0 {
		return nil, fmt.Errorf("the catalog has a server %s already; remove it there or rename the new one", strings.Join(taken, ", "))
	}
	var items, members [][]byte
	for _, in := range inputs {
		text, err := compact(in)
		if err != nil {
			return nil, err
		}
		items = append(items, text)
	}
	for _, s := range r.Servers {
		text, err := member(s.Name, s.Entry)
		if err != nil {
			return nil, err
		}
		members = append(members, text)
	}
	if catalog, err = insert(catalog, "inputs", '[', items); err != nil {
		return nil, err
	}
	return insert(catalog, "servers", '{', members)
}

// newInputs leaves out what the catalog has.
func (r *Result) newInputs(root *document.Node) ([]Input, error) {
	var list []Input
	for _, in := range r.Inputs {
		known := false
		if existing := root.Member("inputs"); existing != nil {
			for _, item := range existing.Items {
				if id := item.Member("id"); id == nil || id.Value != in.ID {
					continue
				}
				if !same(item, in) {
					return nil, fmt.Errorf("the catalog has an input %q with another source; rename it there or in the file", in.ID)
				}
				known = true
			}
		}
		if !known {
			list = append(list, in)
		}
	}
	return list, nil
}

func same(item *document.Node, in Input) bool {
	from, value := item.Member("from"), item.Member("value")
	if in.From != "" {
		return from != nil && from.Value == in.From
	}
	return value != nil && value.Value == in.Value
}

// JSON is the result in the form of a catalog of its own.
func (r *Result) JSON() ([]byte, error) { return r.Merge(nil) }

func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode an entry: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// member is "name": value, with each field of the value on a line of its own, as
// people write catalogs.
func member(name string, value any) ([]byte, error) {
	key, err := compact(name)
	if err != nil {
		return nil, err
	}
	text, err := compact(value)
	if err != nil {
		return nil, err
	}
	fields, err := document.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("encode an entry: %w", err)
	}
	lines := make([]string, len(fields.Members))
	for i, m := range fields.Members {
		lines[i] = fmt.Sprintf("\n      %q: %s", m.Key, m.Value.Raw)
	}
	return []byte(string(key) + ": {" + strings.Join(lines, ",") + "\n    }"), nil
}

// insert adds members to an object or a list that is a member of the document, and
// makes that first if it is not there.
func insert(doc []byte, key string, open byte, parts [][]byte) ([]byte, error) {
	if len(parts) == 0 {
		return doc, nil
	}
	spot, err := find(doc, key)
	if err != nil {
		return nil, err
	}
	if spot.absent {
		brackets := []byte{open, open + 2} // { and }, [ and ] are two apart in ASCII
		doc = splice(doc, spot, [][]byte{slices.Concat([]byte(`"`+key+`": `), brackets)}, 1)
		if spot, err = find(doc, key); err != nil {
			return nil, err
		}
	}
	return splice(doc, spot, parts, 2), nil
}

// place is where the next member of something goes.
type place struct {
	at     int64 // behind the last member, or behind the opening bracket
	first  bool  // there is no member yet
	absent bool  // of the document itself: it has no such key
}

// find looks for the end of what a key of the document holds.
func find(doc []byte, key string) (place, error) {
	offset := 0
	if bytes.HasPrefix(doc, document.ByteOrderMark) {
		offset = len(document.ByteOrderMark)
	}
	d := json.NewDecoder(bytes.NewReader(doc[offset:]))
	end := func() int64 { return d.InputOffset() + int64(offset) }
	if _, err := d.Token(); err != nil {
		return place{}, fmt.Errorf("read the catalog: %w", err)
	}
	whole := place{at: end(), first: true, absent: true}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return place{}, fmt.Errorf("read the catalog: %w", err)
		}
		if name == key {
			return inside(d, end)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return place{}, fmt.Errorf("read the catalog: %w", err)
		}
		whole.at, whole.first = end(), false
	}
	return whole, nil
}

func inside(d *json.Decoder, end func() int64) (place, error) {
	opening, err := d.Token()
	if err != nil {
		return place{}, fmt.Errorf("read the catalog: %w", err)
	}
	if opening != json.Delim('{') && opening != json.Delim('[') {
		return place{}, errors.New("read the catalog: inputs must be a list and servers an object")
	}
	p := place{at: end(), first: true}
	for d.More() {
		if opening == json.Delim('{') {
			if _, err := d.Token(); err != nil {
				return place{}, fmt.Errorf("read the catalog: %w", err)
			}
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return place{}, fmt.Errorf("read the catalog: %w", err)
		}
		p.at, p.first = end(), false
	}
	return p, nil
}

// splice writes parts, each on a line of its own at a depth.
func splice(doc []byte, p place, parts [][]byte, depth int) []byte {
	var b bytes.Buffer
	b.Write(doc[:p.at])
	for i, part := range parts {
		if i > 0 || !p.first {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat("  ", depth))
		b.Write(part)
	}
	rest := doc[p.at:]
	if p.first { // the closing bracket gets a line of its own
		b.WriteString("\n" + strings.Repeat("  ", depth-1))
		rest = bytes.TrimLeft(rest, " \t\r\n")
	}
	b.Write(rest)
	return b.Bytes()
}
