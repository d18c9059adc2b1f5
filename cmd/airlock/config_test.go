package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestEverySettingIsDocumented holds docs/CONFIGURATION.md against the flags.
func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/CONFIGURATION.md")
	if err != nil {
		t.Fatal(err)
	}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		if !config.Field(i).IsExported() { // no setting
			continue
		}
		name := config.Field(i).Tag.Get("env")
		if name == "" || !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s (%s) is not in docs/CONFIGURATION.md", config.Field(i).Name, name)
		}
	}
}

func TestChooseModel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  Config
		want model
	}{
		"nothing set":                             {Config{}, model{provider: "skillmatch"}},
		"a key of Anthropic":                      {Config{AnthropicAPIKey: "k", AnthropicModel: "m"}, model{"anthropic", "m", "k", ""}},
		"a key of OpenAI":                         {Config{OpenAIAPIKey: "k"}, model{"openai", "", "k", ""}},
		"only a base URL":                         {Config{LLMBaseURL: "http://localhost:1/v1", LLMModel: "m"}, model{"openai", "m", "", "http://localhost:1/v1"}},
		"a key of Google":                         {Config{GoogleAPIKey: "k"}, model{"google", "", "k", googleBaseURL}},
		"both keys":                               {Config{AnthropicAPIKey: "a", OpenAIAPIKey: "o"}, model{"anthropic", "", "a", ""}},
		"DEFAULT_MODEL in seed's wording":         {Config{DefaultModel: "gemini/g", GoogleAPIKey: "k"}, model{"google", "g", "k", googleBaseURL}},
		"a provider's own key beside LLM_API_KEY": {Config{DefaultModel: "anthropic/m", LLMAPIKey: "k", AnthropicAPIKey: "a"}, model{"anthropic", "m", "k", ""}},
		"LLM_PROVIDER over the keys":              {Config{LLMProvider: "skillmatch", OpenAIAPIKey: "k"}, model{provider: "skillmatch"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.set.chooseModel()
			if err != nil || got != tc.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
	if _, err := (&Config{DefaultModel: "nobody/x"}).chooseModel(); err == nil {
		t.Error("an unknown provider is taken")
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	several := Config{
		AnthropicAPIKey: "a", OpenAIAPIKey: "o", LLMBaseURL: "http://127.0.0.1:1", DefaultModel: "anthropic/big",
		Models: []string{"openai/small", "anthropic/big"}, FallbackModel: "openai/small",
		ModelPrices: `{"anthropic/big":{"input":3,"output":15},"openai/small":{"input":1,"cachedInput":0.1,"output":2}}`,
	}
	all, err := several.models()
	want := []model{{"anthropic", "big", "a", "http://127.0.0.1:1"}, {"openai", "small", "o", ""}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, %v; want %+v", all, err, want)
	}
	_, listed, err := several.openModels()
	if err != nil || len(listed) != 2 || listed[0].Price.CachedInput != 3 || listed[1].Price.CachedInput != 0.1 {
		t.Errorf("listed %+v, %v", listed, err)
	}
	if names := strings.Join(several.modelNames(), " "); names != "anthropic/big openai/small" {
		t.Errorf("names %q", names)
	}
	local := Config{LLMProvider: "openai", LLMBaseURL: "http://127.0.0.1:1/v1", LLMModel: "m"}
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a model without provider":   {func(c *Config) { c.Models = []string{"m"} }, "MODELS"},
		"an unknown provider":        {func(c *Config) { c.FallbackModel = "nobody/m" }, "FALLBACK_MODEL"},
		"a provider without its key": {func(c *Config) { c.Models = []string{"anthropic/m"} }, "ANTHROPIC_API_KEY"},
		"prices that are not JSON":   {func(c *Config) { c.ModelPrices = "cheap" }, "MODEL_PRICES"},
		"a price without output":     {func(c *Config) { c.ModelPrices = `{"openai/m":{"input":1}}` }, "openai/m"},
		"a price of nothing":         {func(c *Config) { c.ModelPrices = `{"openai/n":{"input":1,"output":1}}` }, "openai/n"},
		"a bound without prices":     {func(c *Config) { c.TaskMaxCostUSD = 1 }, "TASK_MAX_COST_USD"},
	} {
		c := local
		tc.change(&c)
		if _, _, err := c.openModels(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s in it", name, err, tc.want)
		}
	}
	local.FallbackModel = "skillmatch"
	local.TaskMaxCostUSD, local.ModelPrices = 1, `{"openai/m":{"input":1,"output":1}}`
	if _, listed, err := local.openModels(); err != nil || len(listed) != 2 || listed[1].ID != "skillmatch" {
		t.Errorf("skills as a fallback: %+v, %v", listed, err)
	}
}
