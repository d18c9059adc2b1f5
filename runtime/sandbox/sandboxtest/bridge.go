package sandboxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"airlock/runtime/sandbox"
)

// handlerFunc is a bridge made of a function.
type handlerFunc func(http.ResponseWriter, *http.Request)

// ServeHTTP answers as JSON.
func (f handlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	f(w, r)
}

// writeResult answers a call with a tool's structured result.
func writeResult(w http.ResponseWriter, structured string) {
	fmt.Fprintf(w, `{"content":[],"structuredContent":%s,"isError":false}`, structured)
}

// echo answers a call with what it was called with.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, `{"error":{"code":"read","message":"cannot read","hint":""}}`, http.StatusBadRequest)
		return
	}
	request, _ := json.Marshal(map[string]any{
		"method": r.Method, "path": r.URL.Path, "body": json.RawMessage(body),
		"authorized": r.Header.Get("Authorization") == "Bearer "+canary,
	})
	writeResult(w, string(request))
}

func (s *suite) testBridge(t *testing.T) {
	box := s.open(t)
	for name, tc := range map[string]struct {
		bridge http.Handler
		code   string
		reason sandbox.Reason
		value  string
		class  string
	}{
		"a call carries the token and its arguments": {
			handlerFunc(echo), `return await callMCPTool("shop__query", { q: "ü", n: 1.5 })`, sandbox.ReasonOK,
			`{"authorized":true,"body":{"arguments":{"q":"ü","n":1.5}},"method":"POST","path":"/v1/tools/shop__query/call"}`, "",
		},
		"a large answer arrives whole": {
			handlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeResult(w, `"`+strings.Repeat("x", 4<<20)+`"`) }),
			`return (await callMCPTool("a__b", {})).length`, sandbox.ReasonOK, `4194304`, "",
		},
		"large arguments arrive whole": {
			handlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				writeResult(w, fmt.Sprint(n > 4<<20))
			}),
			`return await callMCPTool("a__b", { x: "x".repeat(4 << 20) })`, sandbox.ReasonOK, `true`, "",
		},
		"a tool's error is thrown": {
			handlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `{"content":[{"type":"text","text":"no such table"}],"isError":true}`)
			}),
			`return await callMCPTool("a__b", {})`, sandbox.ReasonError, ``, "MCPToolError",
		},
		"a refusal is thrown with its hint": {
			handlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `{"error":{"code":"scope","message":"not allowed","hint":"ask"}}`)
			}),
			`try { await callMCPTool("a__b", {}) } catch (e) { return [e.name, e.code, e.hint] }`, sandbox.ReasonOK,
			`["BridgeError","scope","ask"]`, "",
		},
		"a bridge that panics is an error": {
			handlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
			`return await callMCPTool("a__b", {})`, sandbox.ReasonError, ``, "BridgeError",
		},
		"a call that is caught changes nothing": {
			handlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }),
			`try { await callMCPTool("a__b", {}) } catch {} return 1`, sandbox.ReasonOK, `1`, "",
		},
		"without a bridge a call fails": {
			nil, `return await callMCPTool("a__b", {})`, sandbox.ReasonError, ``, "BridgeError",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := script(tc.code)
			x.Bridge = tc.bridge
			o := run(t, box, x)
			o.want(t, tc.reason)
			if o.value != tc.value {
				t.Errorf("value is %.300q, want %.300q", o.value, tc.value)
			}
			if tc.class != "" && (o.Error == nil || o.Error.Name != tc.class) {
				t.Errorf("the error is %s, want %s", o.describe(), tc.class)
			}
		})
	}
}

// testParallelCalls answers no call until all are there.
func (s *suite) testParallelCalls(t *testing.T) {
	const calls = 8
	var arrived sync.WaitGroup
	arrived.Add(calls)
	all := make(chan struct{})
	go func() { arrived.Wait(); close(all) }()
	x := script(fmt.Sprintf(`
		const calls = Array.from({ length: %d }, (_, n) => callMCPTool("test__number", { n }));
		return (await Promise.all(calls)).map((r) => r.body.arguments.n)`, calls))
	x.Bridge = handlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		select {
		case <-all:
			echo(w, r)
		case <-r.Context().Done():
		}
	})
	o := run(t, s.open(t), x)
	o.want(t, sandbox.ReasonOK)
	if o.value != `[0,1,2,3,4,5,6,7]` {
		t.Errorf("value is %q", o.value)
	}
}

// testCallsEnd leaves calls behind, which must be over when Run returns.
func (s *suite) testCallsEnd(t *testing.T) {
	for name, code := range map[string]string{
		"when the script returns":  `for (let i = 0; i < 5; i++) callMCPTool("test__never", {}).catch(() => {}); await callMCPTool("test__first", {}); return 1`,
		"when the script fails":    `for (let i = 0; i < 5; i++) callMCPTool("test__never", {}).catch(() => {}); await callMCPTool("test__first", {}); throw new Error("x")`,
		"when there is a flood":    `for (let i = 0; i < 5000; i++) callMCPTool("test__never", {}).catch(() => {}); await utils.sleep(200); return 1`,
		"when the script computes": `callMCPTool("test__never", {}).catch(() => {}); await callMCPTool("test__first", {}); for (let i = 0; i < 1e5; i++); return 1`,
	} {
		t.Run(name, func(t *testing.T) {
			var running, served atomic.Int64
			x := script(code)
			x.Bridge = handlerFunc(func(w http.ResponseWriter, r *http.Request) {
				served.Add(1)
				running.Add(1)
				defer running.Add(-1)
				if strings.Contains(r.URL.Path, "test__first") {
					writeResult(w, `1`)
					return
				}
				<-r.Context().Done()
			})
			run(t, s.open(t), x)
			if n := running.Load(); n != 0 {
				t.Errorf("%d calls still run", n)
			}
			if served.Load() == 0 {
				t.Error("no call arrived at all")
			}
		})
	}
}

// testToken lets a script gather every string it can reach.
func (s *suite) testToken(t *testing.T) {
	x := script(`
		const seen = new Set(), found = [];
		function walk(v, depth) {
			if (typeof v === "string") { found.push(v); return }
			if (v === null || typeof v !== "object" && typeof v !== "function" || seen.has(v) || depth > 6) return;
			seen.add(v);
			if (typeof v === "function") found.push(Function.prototype.toString.call(v));
			for (const key of Reflect.ownKeys(v)) {
				found.push(String(key));
				try { walk(v[key], depth + 1) } catch (e) { found.push(String(e && e.stack)) }
			}
			walk(Object.getPrototypeOf(v), depth + 1);
		}
		const answer = await callMCPTool("a__b", {}, { raw: true });
		walk(globalThis, 0); walk(answer, 0); walk(callMCPTool, 0); walk(console, 0);
		const text = found.join("\n");
		return { strings: found.length > 100, at: text.indexOf("canary" + "-5b1f") }`)
	x.Bridge = handlerFunc(echo)
	o := run(t, s.open(t), x)
	o.want(t, sandbox.ReasonOK)
	if o.value != `{"strings":true,"at":-1}` {
		t.Errorf("value is %q", o.value)
	}
}
