package llm

import (
	"errors"
	"testing"
	"time"
)

func TestErrorNamesWhoWhatAndWhatToDo(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	for want, err := range map[string]*Error{
		"model provider p answered 429 (rate_limit_error); wait":            {Provider: "p", Status: 429, Code: "rate_limit_error", Hint: "wait", Retry: true, After: time.Second},
		"model provider p could not be reached (connection); check the URL": {Provider: "p", Code: "connection", Hint: "check the URL", Cause: cause},
		"model provider p answered 500":                                     {Provider: "p", Status: 500},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	if err := (&Error{Cause: cause}); !errors.Is(err, cause) {
		t.Error("the cause is not unwrapped")
	}
}

func TestOpaqueOpensForItsProviderAlone(t *testing.T) {
	t.Parallel()
	data := []byte("sealed")
	block := NewOpaque("a", data)
	data[0] = 'X'
	if got, ours := block.For("a"); !ours || string(got) != "sealed" {
		t.Errorf("its provider reads %q, %v", got, ours)
	}
	if got, theirs := block.For("b"); theirs || got != nil {
		t.Errorf("another provider reads %q", got)
	}
}
