package servers

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLimitedBodyCountsMessagesNotStreams(t *testing.T) {
	t.Parallel()
	const limit = 10_000
	event := "data: " + strings.Repeat("x", 9_000) + "\n\n"
	for name, c := range map[string]struct {
		body   string
		events bool
		over   bool
	}{
		"short body":                       {strings.Repeat("x", limit), false, false},
		"long body":                        {strings.Repeat("x", 2*limit), false, true},
		"many events":                      {strings.Repeat(event, 100), true, false},
		"many events with carriage return": {strings.Repeat(strings.ReplaceAll(event, "\n", "\r\n"), 100), true, false},
		"one long event":                   {event + "data: " + strings.Repeat("x", 2*limit) + "\n\n", true, true},
		"long event of short lines":        {event + strings.Repeat("data: xxxxxxxxx\n", limit), true, true},
		"event that never ends":            {"data: " + strings.Repeat("x", 2*limit), true, true},
	} {
		for how, in := range map[string]io.Reader{
			"at once": strings.NewReader(c.body), "by bytes": iotest.OneByteReader(strings.NewReader(c.body)),
		} {
			x := &exchange{}
			body := &limitedBody{ReadCloser: io.NopCloser(in), max: limit, events: c.events, exchange: x}
			got, err := io.ReadAll(body)
			if errors.Is(err, errBodyTooLarge) != c.over || x.tooLarge.Load() != c.over {
				t.Errorf("%s, %s: read %d bytes, %v, want over: %v", name, how, len(got), err, c.over)
			}
			if !c.over && string(got) != c.body {
				t.Errorf("%s, %s: the body changed", name, how)
			}
		}
	}
}
