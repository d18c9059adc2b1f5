package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// sourceMap is what a source map (revision 3) says about one source: segments of
// generated lines with where they came from, all counted from 0.
type sourceMap struct{ lines [][]segment }

type segment struct{ column, line, original int }

var errSourceMap = errors.New("malformed source map")

func parseSourceMap(data []byte) (*sourceMap, error) {
	var file struct{ Mappings string }
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", errSourceMap, err)
	}
	m := &sourceMap{lines: [][]segment{nil}}
	var fields [5]int // column, source, line, original column, name: each relative
	for rest := file.Mappings; rest != ""; {
		switch rest[0] {
		case ';':
			m.lines = append(m.lines, nil)
			fields[0] = 0
			rest = rest[1:]
		case ',':
			rest = rest[1:]
		default:
			n, after, err := addSegment(&fields, rest)
			if err != nil {
				return nil, err
			}
			if rest = after; n >= 4 {
				last := len(m.lines) - 1
				m.lines[last] = append(m.lines[last], segment{fields[0], fields[2], fields[3]})
			}
		}
	}
	return m, nil
}

// addSegment adds the next segment's numbers to fields and returns how many.
func addSegment(fields *[5]int, s string) (n int, rest string, err error) {
	for n = 0; s != "" && s[0] != ',' && s[0] != ';'; n++ {
		v, after, ok := vlq(s)
		if !ok || n == len(fields) {
			return 0, "", errSourceMap
		}
		fields[n] += v
		s = after
	}
	return n, s, nil
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// vlq reads a number in base 64: five bits a digit, the least first, the sixth
// says that more follow, the lowest bit of all is the sign.
func vlq(s string) (v int, rest string, ok bool) {
	for shift := 0; s != "" && shift < 35; shift += 5 {
		digit := strings.IndexByte(base64Digits, s[0])
		if digit < 0 {
			return 0, "", false
		}
		s = s[1:]
		v |= (digit & 31) << shift
		if digit&32 == 0 {
			if v&1 == 1 {
				return -(v >> 1), s, true
			}
			return v >> 1, s, true
		}
	}
	return 0, "", false
}

// original finds where a generated position came from: the nearest segment
// before it.
func (m *sourceMap) original(p Position) Position {
	for line := min(p.Line, len(m.lines)) - 1; line >= 0; line-- {
		segments := m.lines[line]
		i := len(segments)
		if line == p.Line-1 {
			i = sort.Search(len(segments), func(i int) bool { return segments[i].column > p.Column-1 })
		}
		if i > 0 {
			return Position{segments[i-1].line + 1, segments[i-1].original + 1}
		}
	}
	return p
}
