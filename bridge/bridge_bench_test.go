package bridge

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

// renew gives the execution its allowance back.
func (r *rig) renew() {
	r.access.mu.Lock()
	defer r.access.mu.Unlock()
	r.access.calls, r.access.requests = 0, 0
}

// BenchmarkCall compares a call of a tool that does nothing with the same call
// through the bridge, in process and over a unix socket.
func BenchmarkCall(b *testing.B) {
	r := newRig(b, func(_ *Options, g *Grant) { g.Observe = func(Event) {} })
	r.up.answer = func(context.Context, string, string) (servers.Result, error) { return text("ok"), nil }
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.up.answer(b.Context(), "shop__typed", `{"limit":1}`); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("in process", func(b *testing.B) {
		for b.Loop() {
			r.renew()
			if status, body := r.call("shop__typed", `{"limit":1}`); status != http.StatusOK {
				b.Fatal(status, body)
			}
		}
	})
	b.Run("socket", func(b *testing.B) {
		client := socketClient(b, r.socket())
		for b.Loop() {
			r.renew()
			if status, err := post(client, r.access.Token(), `{"arguments":{"limit":1}}`); err != nil || status != http.StatusOK {
				b.Fatal(status, err)
			}
		}
	})
}

// BenchmarkLargeResult passes 1 MiB of rows with an e-mail address each.
func BenchmarkLargeResult(b *testing.B) {
	r := newRig(b, func(_ *Options, g *Grant) { g.Observe = func(Event) {} })
	rows := strings.Repeat(`{"id":1,"name":"x","mail":"eve@example.com"},`, 1<<20/45)
	result := servers.Result{JSON: pii.NewRaw(`{"content":[],"structuredContent":{"rows":[` + strings.TrimSuffix(rows, ",") + `]}}`)}
	r.up.answer = func(context.Context, string, string) (servers.Result, error) { return result, nil }
	b.SetBytes(int64(result.JSON.Len()))
	for b.Loop() {
		r.renew()
		if status, _ := r.call("shop__find", `{}`); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}

// BenchmarkSearch lists among the real tools of many servers.
func BenchmarkSearch(b *testing.B) {
	r := newRig(b)
	r.up.tools = nil
	for name, schema := range realSchemas(b) {
		r.up.tools = append(r.up.tools, tool(name, schema))
	}
	if _, err := r.bridge.Search(b.Context(), r.access.viewer(), Query{Text: "warm up"}); err != nil {
		b.Fatal(err)
	}
	for name, q := range map[string]Query{"query": {Text: "list the open issues of a repository"}, "names": {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.bridge.Search(b.Context(), r.access.viewer(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkListTools is list_mcp_tools({query}) over a thousand tools, as a script
// in the embedded sandbox asks: search, twenty summaries, their tokenizing. The
// names and descriptions are made of parts of real ones.
func BenchmarkListTools(b *testing.B) {
	r := newRig(b, func(_ *Options, g *Grant) { g.Observe = func(Event) {} })
	r.up.tools = manyTools(1000)
	b.Run("by query", func(b *testing.B) {
		for b.Loop() {
			r.renew()
			if status, body := r.do(http.MethodGet, "/v1/tools?detail=summary&query=list+the+open+issues+of+a+repository+assigned+to+me", ""); status != http.StatusOK {
				b.Fatal(status, body)
			}
		}
	})
	b.Run("names", func(b *testing.B) {
		for b.Loop() {
			r.renew()
			if status, body := r.do(http.MethodGet, "/v1/tools?detail=name", ""); status != http.StatusOK {
				b.Fatal(status, body)
			}
		}
	})
}

// manyTools crosses verbs and nouns over ten servers.
func manyTools(n int) []servers.Tool {
	verbs := strings.Fields("list get create update delete search merge assign close export")
	nouns := strings.Fields("issue repository branch comment file invoice customer message channel deployment")
	var all []servers.Tool
	for i := range n {
		verb, noun, server := verbs[i%10], nouns[i/10%10], nouns[i/100%10]
		t := tool(server+"s__"+verb+"_"+noun, `{"type":"object","properties":{"`+noun+`_id":{"type":"string","description":"Which `+noun+` to `+verb+`."},"limit":{"type":"integer"}}}`)
		t.Description = pii.NewRaw("Use this to " + verb + " one " + noun + " or several of the " + server + " service. " + strings.Repeat("More is said about paging, filters and errors. ", 8))
		all = append(all, t)
	}
	return all
}
