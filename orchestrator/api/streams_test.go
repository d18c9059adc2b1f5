package api

import (
	"net/http"
	"strings"
	"testing"

	"airlock/ident"
)

func TestAUserHasOnlySoManyStreams(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Service: conversation(t), Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	ask := serve(t, s)
	var leave func()
	for range maxStreams {
		if leave, err = s.streams.enter("u1"); err != nil {
			t.Fatal(err)
		}
	}
	const path = "/tasks/task_1/events?userId="
	if status, _, body := ask("GET", path+"u1", ""); status != http.StatusTooManyRequests || !strings.Contains(body, `"too_many_streams"`) {
		t.Errorf("one more stream is answered %d %s", status, body)
	}
	if status, _, _ := ask("GET", path+"u2", ""); status != http.StatusOK {
		t.Errorf("another user's stream is answered %d", status)
	}
	leave()
	leave()       // counts once
	for range 2 { // a stream that has ended counts no more
		if status, _, body := ask("GET", path+"u1", ""); status != http.StatusOK {
			t.Errorf("a stream after another was closed is answered %d %s", status, body)
		}
	}
	if s.streams.open[ident.User("u2")] != 0 {
		t.Errorf("%d streams of a user are counted who has none", s.streams.open["u2"])
	}
}
