package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestProgressReachesWhoWatches(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", ""), nil)
	var said []Progress
	_, err := m.CallWatched(t.Context(), anyone, "peer__do", act("report progress"), func(p Progress) { said = append(said, p) })
	if err != nil || len(said) != 3 {
		t.Fatalf("%d reports, %v; want 3", len(said), err)
	}
	if said[0].Done != 1 || said[0].Total != 4 || !said[0].Message.IsZero() {
		t.Errorf("first: %+v", said[0])
	}
	if said[1].Done != 2.5 || said[1].Total != 0 || told(t, said[1].Message) != "half of canary" {
		t.Errorf("second: %+v", said[1])
	}
	if got := say(t, m, anyone, json.RawMessage(`{"text":"unwatched"}`)); got != "unwatched" {
		t.Errorf("answered %q", got)
	}
}

// TestRealServerReportsProgress asks a server that is not ours, over both
// transports.
func TestRealServerReportsProgress(t *testing.T) {
	t.Parallel()
	for transport, entry := range map[string]string{
		"stdio": fmt.Sprintf(`"command":%q`, npmProgramPath(t, "mcp-server-everything")),
		"HTTP":  fmt.Sprintf(`"url":%q`, startEverything(t)),
	} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			m := managerOf(t, `"everything":{`+entry+`,`+patient+`}`, nil)
			var said []Progress
			result, err := m.CallWatched(t.Context(), anyone, "everything__trigger-long-running-operation",
				json.RawMessage(`{"duration":0.5,"steps":5}`), func(p Progress) { said = append(said, p) })
			if err != nil || result.IsError {
				t.Fatal(told(t, result.JSON), err)
			}
			if len(said) != 5 || said[4].Done != 5 || said[4].Total != 5 {
				t.Errorf("reports: %+v", said)
			}
		})
	}
}

func TestCancellationReachesTheServer(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", ""), nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.CallWatched(ctx, anyone, "peer__do", act("hang"), func(Progress) { cancel() }) // once the server has it
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	if got := say(t, m, anyone, act("was it cancelled")); got != "true" {
		t.Errorf("the server was told that the call is of no use any more: %s", got)
	}
}
