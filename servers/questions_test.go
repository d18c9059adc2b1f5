package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// answerer answers every question with a fixed text, or fails.
type answerer struct {
	asked  chan Question
	result string
	err    error
}

func (a answerer) Answer(_ context.Context, q Question) (json.RawMessage, error) {
	a.asked <- q
	return json.RawMessage(a.result), a.err
}

func TestServersQuestionsAreRefusedWithoutAnAnswerer(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", ""), nil)
	if got := say(t, m, anyone, act("capabilities")); got != "{}" {
		t.Errorf("capabilities %s, want none", got)
	}
	for method, want := range map[string]string{
		"elicitation/create": `"code":-32601`, "sampling/createMessage": `"code":-32601`, "roots/list": `"code":-32601`,
		"no/such": `"code":-32601`, "ping": `"result":{}`,
	} {
		got := say(t, m, anyone, json.RawMessage(fmt.Sprintf(`{"act":"ask","text":%q}`, method)))
		if !strings.Contains(got, want) {
			t.Errorf("%s was answered %s, want %s", method, got, want)
		}
	}
}

func TestServersQuestionsReachTheAnswerer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		instance, method string
		answer           answerer
		asks             bool
		want             string
	}{
		"elicitation":      {"user", "elicitation/create", answerer{result: `{"action":"accept","content":{"n":9007199254740993}}`}, true, `"result":{"action":"accept","content":{"n":9007199254740993}}`},
		"sampling":         {"session", "sampling/createMessage", answerer{result: `{"role":"assistant"}`}, true, `"result":{"role":"assistant"}`},
		"failing":          {"user", "elicitation/create", answerer{err: errors.New("canary")}, true, `nobody answered; go on without it`},
		"no JSON":          {"user", "elicitation/create", answerer{result: `{`}, true, `nobody answered; go on without it`},
		"roots":            {"user", "roots/list", answerer{result: `{}`}, false, `"code":-32601`},
		"instance for all": {"shared", "elicitation/create", answerer{result: `{}`}, false, `"code":-32601`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.answer.asked = make(chan Question, 1)
			m := managerWith(t, Options{
				Catalog: catalogOf(t, peerEntry(t, "peer", "plain", fmt.Sprintf(`,"instance":%q`, c.instance))),
				Environ: os.LookupEnv, Keeper: keeping(), Answerer: c.answer,
			})
			if got := say(t, m, anyone, act("capabilities")); strings.Contains(got, "elicitation") == (c.instance == "shared") {
				t.Errorf("capabilities %s", got)
			}
			got := say(t, m, anyone, json.RawMessage(fmt.Sprintf(`{"act":"ask","text":%q}`, c.method)))
			if !strings.Contains(got, c.want) || strings.Contains(got, "canary") {
				t.Errorf("answered %s, want %s", got, c.want)
			}
			if !c.asks {
				if len(c.answer.asked) > 0 {
					t.Error("the answerer was asked")
				}
				return
			}
			q := <-c.answer.asked
			if q.Server != "peer" || q.Caller != anyone || string(q.Kind) != c.method || !strings.Contains(told(t, q.Params), "canary@example.com") {
				t.Errorf("asked %+v", q)
			}
		})
	}
}

func TestFloodOfQuestionsDoesNotHoldAnswersUp(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	m := managerWith(t, Options{
		Catalog: catalogOf(t, peerEntry(t, "peer", "plain", "")), Environ: os.LookupEnv, Keeper: keeping(),
		Answerer: slowAnswerer{never},
	})
	if got := say(t, m, anyone, act("flood")); got != "flooded" {
		t.Errorf("answered %q", got)
	}
}

// slowAnswerer waits until it is told to stop.
type slowAnswerer struct{ never chan struct{} }

func (a slowAnswerer) Answer(ctx context.Context, _ Question) (json.RawMessage, error) {
	select {
	case <-ctx.Done():
	case <-a.never:
	}
	return nil, ctx.Err()
}
