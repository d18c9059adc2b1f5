package llm_test

import (
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

func TestRouterAsksTheNamedModelByItsProvidersName(t *testing.T) {
	t.Parallel()
	one, two := llmtest.NewScript(llmtest.Turn{Text: "one"}), llmtest.NewScript(llmtest.Turn{Text: "two"})
	router, err := llm.NewRouter("a/one", map[string]llm.Route{"a/one": {Provider: one, Model: "one"}, "b/two": {Provider: two, Model: "two"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := llmtest.Collect(router.Stream(t.Context(), llm.Request{})); got.Text != "one" || one.Requests()[0].Model != "one" {
		t.Errorf("without a name: %+v", got)
	}
	if got := llmtest.Collect(router.Stream(t.Context(), llm.Request{Model: "b/two"})); got.Text != "two" || two.Requests()[0].Model != "two" {
		t.Errorf("by name: %+v", got)
	}
	if got := llmtest.Collect(router.Stream(t.Context(), llm.Request{Model: "two"})); got.Err == nil {
		t.Errorf("an unknown name: %+v", got)
	}
	if _, err := llm.NewRouter("c", map[string]llm.Route{"a": {Provider: one}}); err == nil {
		t.Error("a router without its first model was made")
	}
}
