package bridge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

// described is what details say of the result of a tool.
func (r *rig) described(name string) string {
	r.tb.Helper()
	_, body := r.do(http.MethodGet, "/v1/tools/"+name, "")
	return body
}

func TestResultsTeachTheirType(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	declared := tool("shop__declared", anyObject)
	declared.OutputSchema = pii.NewRaw(`{"type":"object","properties":{"n":{"type":"number"}}}`)
	r.up.tools = append(r.up.tools, declared)
	if body := r.described("shop__echo"); !strings.Contains(body, "Promise<any>") || strings.Contains(body, "resultType") {
		t.Errorf("before any result: %s", body)
	}
	r.call("shop__echo", `{"rows":[{"id":1,"mail":"eve@example.com"}],"by":{"eve@example.com":2}}`)
	r.call("shop__declared", `{"secret":1}`)
	want := `Promise</* as results looked so far */ { rows: { id: number; mail: string }[]; by: { [key: string]: number } }>`
	if body := r.described("shop__echo"); !strings.Contains(body, want) || !strings.Contains(body, `"resultType":"observed"`) || strings.Contains(body, "EMAIL") {
		t.Errorf("after a result: %s", body)
	}
	if body := r.described("shop__declared"); strings.Contains(body, "secret") || !strings.Contains(body, `"resultType":"declared"`) {
		t.Errorf("a declared type was replaced: %s", body)
	}
}

func TestFailuresTeachNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.answer = func(context.Context, string, string) (servers.Result, error) {
		return servers.Result{JSON: pii.NewRaw(`{"isError":true,"content":[{"type":"text","text":"{\"oops\":1}"}]}`), IsError: true}, nil
	}
	r.call("shop__echo", `{}`)
	if body := r.described("shop__echo"); strings.Contains(body, "oops") {
		t.Errorf("an error became a type: %s", body)
	}
}

// What one user's results look like is not told to another.
func TestTypesBelongToTheirUser(t *testing.T) {
	t.Parallel()
	var o observedShapes
	o.learn("ada", tool("shop__echo", anyObject), resultOf(t, `{"project_moonlight":1}`))
	if got := o.of("ada", "shop__echo"); !strings.Contains(got, "project_moonlight") {
		t.Errorf("her own is %q", got)
	}
	if got := o.of("bob", "shop__echo"); got != "" {
		t.Errorf("another user sees %q", got)
	}
}

func resultOf(tb testing.TB, value string) pii.Tokenized {
	tb.Helper()
	r, err := testVault(tb).Tokenize(text(value).JSON, pii.OriginServer("shop"))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// wide is an object whose every result has other keys, some levels deep.
func wide(salt, depth int) string {
	if depth == 0 {
		return "1"
	}
	var members []string
	for i := range 25 {
		members = append(members, fmt.Sprintf(`"k%s_%c":%s`, strings.Repeat("x", salt), 'a'+i, wide(salt, depth-1)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestTypesStayBounded(t *testing.T) {
	t.Parallel()
	var o observedShapes
	small, large := resultOf(t, "1"), resultOf(t, wide(0, 2))
	for i := range maxShapes + 100 {
		result := small
		if i > maxShapes-100 {
			result = large
		}
		o.learn("ada", tool(fmt.Sprintf("shop__t%d", i), anyObject), result)
	}
	if len(o.all) > maxShapes || o.nodes > maxShapesNodes {
		t.Errorf("%d shapes of %d nodes are kept", len(o.all), o.nodes)
	}
	counted := 0
	for _, known := range o.all {
		counted += known.nodes
	}
	if counted != o.nodes {
		t.Errorf("%d nodes are counted, %d are kept", o.nodes, counted)
	}
	last := fmt.Sprintf("shop__t%d", maxShapes+99)
	if o.of("ada", last) == "" {
		t.Error("the newest was forgotten")
	}
	for i := range 2 * maxLearnt {
		o.learn("ada", tool(last, anyObject), resultOf(t, wide(i, 1)))
	}
	if known := o.all[shapeKey{"ada", last}]; known.learnt != maxLearnt || known.shape.Nodes() > 1 {
		t.Errorf("learnt from %d results, still holds %d nodes", known.learnt, known.shape.Nodes())
	}
}

func TestTypesAreLearntAtOnce(t *testing.T) {
	t.Parallel()
	var o observedShapes
	var all sync.WaitGroup
	result := resultOf(t, `{"a":1}`)
	for i := range 16 {
		all.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("shop__t%d", (i+j)%5)
				o.learn("ada", tool(name, anyObject), result)
				if got := o.of("ada", name); got != "" && got != "{ a: number }" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	all.Wait()
}
