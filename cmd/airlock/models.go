package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"airlock/orchestrator"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/anthropic"
	"airlock/orchestrator/llm/openai"
	"airlock/orchestrator/llm/skillmatch"
)

// model is which model answers, and where.
type model struct {
	provider, name, key, baseURL string
}

// String is the model's name among those of all providers.
func (m model) String() string {
	if m.name == "" {
		return m.provider
	}
	return m.provider + "/" + m.name
}

func (m model) open() (llm.Provider, error) {
	switch m.provider {
	case "anthropic":
		return anthropic.New(anthropic.Options{APIKey: m.key, BaseURL: m.baseURL, Model: m.name})
	case "openai", "google":
		return openai.New(openai.Options{APIKey: m.key, BaseURL: m.baseURL, Model: m.name})
	default:
		return skillmatch.New(skillmatch.Options{})
	}
}

// Google's endpoint that speaks OpenAI's protocol.
const googleBaseURL = "https://generativelanguage.googleapis.com/v1beta/openai/"

var providers = []string{"anthropic", "openai", "google", "skillmatch"}

// chooseModel finds the model of tasks that name none, by the settings in their
// order: DEFAULT_MODEL, LLM_*, then the keys present.
func (c *Config) chooseModel() (model, error) {
	if c.DefaultModel != "" && c.LLMProvider == "" {
		m, err := parseModel("DEFAULT_MODEL", c.DefaultModel)
		if err != nil {
			return model{}, err
		}
		return c.located(m, m.provider), nil
	}
	provider := cmp.Or(c.LLMProvider, c.providerByKey())
	return c.located(model{provider: provider, name: c.LLMModel}, provider), nil
}

// parseModel reads provider/model.
func parseModel(setting, text string) (model, error) {
	provider, name, ok := strings.Cut(text, "/")
	if provider == "gemini" {
		provider = "google"
	}
	switch {
	case text == "skillmatch":
		return model{provider: text}, nil
	case !ok || name == "" || provider == "skillmatch":
		return model{}, usageError{fmt.Errorf("%s is %q; it must be provider/model, such as anthropic/claude-sonnet-4-5, or skillmatch", setting, text)}
	case !slices.Contains(providers, provider):
		return model{}, usageError{fmt.Errorf("%s is %q; model provider %q is not known; use one of %s", setting, text, provider, strings.Join(providers, ", "))}
	}
	return model{provider: provider, name: name}, nil
}

// located adds where the model is. LLM_API_KEY and LLM_BASE_URL belong to the
// provider of the default model.
func (c *Config) located(m model, first string) model {
	var key, url string
	if m.provider == first {
		key, url = c.LLMAPIKey, c.LLMBaseURL
	}
	switch m.provider {
	case "anthropic":
		m.key, m.baseURL, m.name = cmp.Or(key, c.AnthropicAPIKey), cmp.Or(url, c.AnthropicBaseURL), cmp.Or(m.name, c.AnthropicModel)
	case "openai":
		m.key, m.baseURL, m.name = cmp.Or(key, c.OpenAIAPIKey), cmp.Or(url, c.OpenAIBaseURL), cmp.Or(m.name, c.OpenAIModel)
	case "google":
		m.key, m.baseURL = cmp.Or(key, c.GoogleAPIKey), cmp.Or(url, googleBaseURL)
	}
	return m
}

func (c *Config) providerByKey() string {
	switch {
	case c.AnthropicAPIKey != "":
		return "anthropic"
	case c.OpenAIAPIKey != "" || c.LLMBaseURL != "" || c.LLMAPIKey != "":
		return "openai"
	case c.GoogleAPIKey != "":
		return "google"
	default:
		return "skillmatch"
	}
}

// models are those that tasks may name: the default, MODELS and FALLBACK_MODEL.
func (c *Config) models() ([]model, error) {
	first, err := c.chooseModel()
	if err != nil {
		return nil, err
	}
	all := []model{first}
	add := func(setting, text string) error {
		m, err := parseModel(setting, text)
		if m = c.located(m, first.provider); err == nil && !slices.Contains(all, m) {
			all = append(all, m)
		}
		return err
	}
	for _, text := range c.Models {
		if err := add("MODELS", text); err != nil {
			return nil, err
		}
	}
	if c.FallbackModel != "" {
		err = add("FALLBACK_MODEL", c.FallbackModel)
	}
	return all, err
}

// fallback is the name of FALLBACK_MODEL among the models.
func (c *Config) fallback() (string, error) {
	if c.FallbackModel == "" {
		return "", nil
	}
	m, err := parseModel("FALLBACK_MODEL", c.FallbackModel)
	return m.String(), err
}

// modelNames are how tasks name the models.
func (c *Config) modelNames() []string {
	all, err := c.models()
	if err != nil {
		return nil // open has told
	}
	var names []string
	for _, m := range all {
		names = append(names, m.String())
	}
	return names
}

// openModels makes the provider of all models.
func (c *Config) openModels() (llm.Provider, []orchestrator.Model, error) {
	all, err := c.models()
	if err != nil {
		return nil, nil, err
	}
	prices, err := c.prices()
	if err != nil {
		return nil, nil, err
	}
	var listed []orchestrator.Model
	routes := map[string]llm.Route{}
	for _, m := range all {
		provider, err := m.open()
		if err != nil {
			return nil, nil, usageError{err}
		}
		id := m.String()
		price := prices[id]
		if m.provider == "skillmatch" {
			price = &orchestrator.Price{} // it asks nobody
		}
		if price == nil && c.TaskMaxCostUSD > 0 {
			return nil, nil, usageError{fmt.Errorf("TASK_MAX_COST_USD bounds what tasks cost, but MODEL_PRICES has no price of %s", id)}
		}
		delete(prices, id)
		routes[id] = llm.Route{Provider: provider, Model: m.name}
		listed = append(listed, orchestrator.Model{ID: id, Price: price})
	}
	for _, id := range slices.Sorted(maps.Keys(prices)) {
		return nil, nil, usageError{fmt.Errorf("MODEL_PRICES has a price of %q, which is not among the models: %s", id, strings.Join(c.modelNames(), ", "))}
	}
	router, err := llm.NewRouter(listed[0].ID, routes)
	if err != nil || !c.SkillsFirst {
		return router, listed, err
	}
	skills, err := skillmatch.New(skillmatch.Options{})
	if err != nil {
		return nil, nil, err
	}
	return skillmatch.First(skills, router), listed, nil
}

// prices reads MODEL_PRICES.
func (c *Config) prices() (map[string]*orchestrator.Price, error) {
	text, err := textOrFile("MODEL_PRICES", c.ModelPrices)
	if err != nil {
		return nil, err
	}
	told := map[string]struct {
		Input       *float64 `json:"input"`
		CachedInput *float64 `json:"cachedInput"`
		Output      *float64 `json:"output"`
	}{}
	if text != "" {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&told); err != nil {
			return nil, usageError{errors.New(`MODEL_PRICES is not JSON such as {"openai/gpt-5-mini":{"input":0.25,"cachedInput":0.025,"output":2}}`)}
		}
	}
	prices := map[string]*orchestrator.Price{}
	for id, p := range told {
		if p.Input == nil || p.Output == nil || *p.Input < 0 || *p.Output < 0 || p.CachedInput != nil && *p.CachedInput < 0 {
			return nil, usageError{fmt.Errorf("MODEL_PRICES of %q needs input and output, in US dollars per million tokens and not negative", id)}
		}
		price := &orchestrator.Price{Input: *p.Input, CachedInput: *p.Input, Output: *p.Output}
		if p.CachedInput != nil {
			price.CachedInput = *p.CachedInput
		}
		prices[id] = price
	}
	return prices, nil
}

// textOrFile is the value of a setting, or what is in the file that it names by @.
func textOrFile(setting, value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", usageError{fmt.Errorf("%s: %w", setting, err)}
	}
	return string(data), nil
}
