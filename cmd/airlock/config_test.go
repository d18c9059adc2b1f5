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
		"nothing set":                     {Config{}, model{provider: "skillmatch"}},
		"a key of Anthropic":              {Config{AnthropicAPIKey: "k", AnthropicModel: "m"}, model{"anthropic", "m", "k", ""}},
		"a key of OpenAI":                 {Config{OpenAIAPIKey: "k"}, model{"openai", "", "k", ""}},
		"only a base URL":                 {Config{LLMBaseURL: "http://localhost:1/v1", LLMModel: "m"}, model{"openai", "m", "", "http://localhost:1/v1"}},
		"a key of Google":                 {Config{GoogleAPIKey: "k"}, model{"google", "", "k", googleBaseURL}},
		"both keys":                       {Config{AnthropicAPIKey: "a", OpenAIAPIKey: "o"}, model{"anthropic", "", "a", ""}},
		"DEFAULT_MODEL in seed's wording": {Config{DefaultModel: "gemini/g", GoogleAPIKey: "k"}, model{"google", "g", "k", googleBaseURL}},
		"LLM_PROVIDER over the keys":      {Config{LLMProvider: "skillmatch", OpenAIAPIKey: "k"}, model{provider: "skillmatch"}},
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
