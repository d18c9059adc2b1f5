package typescript

import (
	"encoding/json"
	"errors"
	"sort"
	"strings"
)

// sourceMap leads from places in generated code to those they came from: for each
// line the segments in order of their columns. All count from 0.
type sourceMap [][]segment

type segment struct{ column, fromLine, fromColumn int }

var errSourceMap = errors.New("the source map is malformed")

// parseSourceMap reads the mappings of a source map of version 3.
func parseSourceMap(data []byte) (sourceMap, error) {
	var file struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, errors.Join(errSourceMap, err)
	}
	var m sourceMap
	var last segment
	for line := range strings.SplitSeq(file.Mappings, ";") {
		var segments []segment
		last.column = 0
		for text := range strings.SplitSeq(line, ",") {
			fields, err := numbers(text)
			if err != nil {
				return nil, err
			}
			if len(fields) < 4 {
				continue
			}
			last = segment{last.column + fields[0], last.fromLine + fields[2], last.fromColumn + fields[3]}
			segments = append(segments, last)
		}
		m = append(m, segments)
	}
	return m, nil
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// numbers reads a segment: numbers of base-64 digits with five bits each, the
// lowest first, a sixth that says whether more follow, and the sign in the first.
func numbers(text string) ([]int, error) {
	var all []int
	value, shift := 0, 0
	for i := range len(text) {
		digit := strings.IndexByte(digits, text[i])
		if digit < 0 || shift > 30 {
			return nil, errSourceMap
		}
		value |= digit & 31 << shift
		if digit&32 != 0 {
			shift += 5
			continue
		}
		n := value >> 1
		if value&1 != 0 {
			n = -n
		}
		all = append(all, n)
		value, shift = 0, 0
	}
	return all, nil
}

// original is where a place, counted from 1, came from: the last segment before
// it, on its line or an earlier one.
func (m sourceMap) original(line, column int) (int, int) {
	line, column = min(line, len(m))-1, column-1
	for ; line >= 0; line-- {
		segments := m[line]
		i := sort.Search(len(segments), func(i int) bool { return segments[i].column > column })
		if i > 0 {
			return segments[i-1].fromLine + 1, segments[i-1].fromColumn + 1
		}
		if len(segments) > 0 {
			return segments[0].fromLine + 1, segments[0].fromColumn + 1
		}
	}
	return 1, 1
}
