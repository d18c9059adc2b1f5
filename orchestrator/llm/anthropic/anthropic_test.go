package anthropic

import (
	"testing"

	"go.uber.org/goleak"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newProvider(t testing.TB, at llmtest.Target) llm.Provider {
	t.Helper()
	p, err := New(Options{APIKey: "test-key", BaseURL: at.AnthropicURL, Model: "test-model", HTTPClient: at.Client, Idle: at.Idle})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestContract(t *testing.T) { llmtest.RunContract(t, newProvider) }

func TestAimock(t *testing.T) { llmtest.RunAimock(t, newProvider) }
