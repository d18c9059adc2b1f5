package bridge

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"airlock/servers"
)

// TestLinesOfTheLogNameWhatTheyAreAbout causes the lines of a script's requests, of a
// task that looks at tools without one, and of a request whose token is not known.
func TestLinesOfTheLogNameWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cause func(*rig)
		want  map[string]any
	}{
		"a call that is not recorded": {func(r *rig) {
			r.do(http.MethodGet, "/v1/tools", "")
			r.audit.failWith(errors.New("disk full"))
			r.call("shop__find", "{}")
		}, map[string]any{"session": "ses_one", "task": "task_one", "execution": "exe_one", "request": 2.0}},
		"a schema of no use": {func(r *rig) {
			r.call("shop__broken", "{}")
		}, map[string]any{"session": "ses_one", "task": "task_one", "execution": "exe_one", "request": 1.0}},
		"a server that a script cannot list": {func(r *rig) {
			r.up.faults = []servers.Fault{{Server: "post", Err: errors.New("down")}}
			r.do(http.MethodGet, "/v1/tools", "")
		}, map[string]any{"session": "ses_one", "task": "task_one", "execution": "exe_one", "request": 1.0}},
		"a server that a model cannot list": {func(r *rig) {
			r.up.faults = []servers.Fault{{Server: "post", Err: errors.New("down")}}
			if _, err := r.bridge.Search(t.Context(), r.access.viewer(), Query{}); err != nil {
				t.Error(err)
			}
		}, map[string]any{"session": "ses_one", "task": "task_one"}},
		"a token that is not recorded": {func(r *rig) {
			r.audit.failWith(errors.New("disk full"))
			request := r.request(http.MethodGet, "/v1/tools", "")
			request.Header.Set("Authorization", "Bearer x")
			r.send(request)
		}, map[string]any{"session": "ses_one"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			tt.cause(r)
			if r.log.String() == "" {
				t.Fatal("no line was written")
			}
			for line := range strings.Lines(r.log.String()) {
				var has map[string]any
				if err := json.Unmarshal([]byte(line), &has); err != nil {
					t.Fatal(err)
				}
				for field, want := range tt.want {
					if has[field] != want {
						t.Errorf("%s is %v, want %v: %s", field, has[field], want, line)
					}
				}
			}
		})
	}
}
