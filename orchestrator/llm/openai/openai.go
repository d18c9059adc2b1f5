// Package openai asks models over OpenAI's chat completions, by the official SDK:
// OpenAI's own, and by Options.BaseURL those of every server that speaks the
// same protocol, such as Gemini, Ollama, vLLM and LiteLLM.
//
// The SDK is used for the request's types, the transport and the splitting of the
// event stream, and is kept from all else it would do by itself: it reads nothing
// from the environment and repeats no request. Chunks are decoded here, since
// servers differ in ways that the SDK's types do not take: arguments as objects,
// missing or repeated indexes and ids, fields of their own for reasoning.
package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/internal/wire"
)

// name is the provider's name in errors.
const name = "openai"

// officialHost is where OpenAI's own models are.
const officialHost = "api.openai.com"

// Options say whom to ask. Zero fields take the defaults they name.
type Options struct {
	// APIKey may be empty with a BaseURL: local servers need none.
	APIKey string
	// BaseURL is the address with its "/v1"; empty is OpenAI's own. Gemini's is
	// https://generativelanguage.googleapis.com/v1beta/openai, Ollama's
	// http://127.0.0.1:11434/v1.
	BaseURL string
	// Model answers requests that name none.
	Model string
	// MaxTokens bounds answers of requests that do not; 0 leaves the bound to the
	// provider, since local servers refuse bounds that exceed what fits.
	MaxTokens int
	// Idle is how long the provider may send nothing; 0 means five minutes. The
	// whole turn is bounded by the context of Stream.
	Idle time.Duration
	// HTTPClient carries the requests; nil means a plain one without a proxy.
	HTTPClient *http.Client
}

// Provider asks one server. It may be used concurrently.
type Provider struct {
	client    sdk.Client
	host      string
	model     string
	maxTokens int
}

var _ llm.Provider = (*Provider)(nil)

var endpoint = wire.Endpoint{Provider: name, KeyName: "OPENAI_API_KEY or LLM_API_KEY", ModelName: "OPENAI_MODEL or LLM_MODEL", URLName: "OPENAI_BASE_URL or LLM_BASE_URL"}

// New checks o. It asks nothing yet.
func New(o Options) (*Provider, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("model provider %s: %w", name, err)
	}
	p := &Provider{host: officialHost, model: o.Model, maxTokens: o.MaxTokens}
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), // the address, in spite of its name
		option.WithHTTPClient(endpoint.NewClient(o.HTTPClient, o.Idle)),
		option.WithMaxRetries(0),
		option.WithAPIKey(o.APIKey),
	}
	if o.BaseURL != "" {
		u, err := url.Parse(o.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("model provider %s: base URL cannot be parsed", name)
		}
		p.host = u.Host
		options = append(options, option.WithBaseURL(o.BaseURL))
	}
	// Not by NewClient, which reads the environment.
	p.client = sdk.Client{Options: options}
	return p, nil
}

func (o Options) check() error {
	switch {
	case o.APIKey == "" && o.BaseURL == "":
		return errors.New("no API key; set OPENAI_API_KEY, or LLM_BASE_URL for a server that needs none")
	case strings.ContainsAny(o.APIKey, " \t\r\n"):
		return errors.New("the API key contains white space; check OPENAI_API_KEY")
	case o.Model == "":
		return errors.New("no model; set OPENAI_MODEL or LLM_MODEL")
	case o.MaxTokens < 0:
		return fmt.Errorf("max tokens is %d; it must not be negative", o.MaxTokens)
	case o.Idle < 0:
		return fmt.Errorf("idle time is %v; it must not be negative", o.Idle)
	case o.BaseURL != "":
		return wire.CheckURL(o.BaseURL)
	}
	return nil
}

// official reports whether the server is OpenAI's own or Azure's copy of it.
func (p *Provider) official() bool {
	return p.host == officialHost || strings.HasSuffix(p.host, ".openai.azure.com")
}

// googleHost is where Gemini's models are, by OpenAI's protocol too.
const googleHost = "generativelanguage.googleapis.com"

// origin marks opaque blocks: they go back to the model and server they came from.
func (p *Provider) origin(model string) string { return name + "@" + p.host + "/" + model }

// Stream asks for one turn.
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		params, err := p.params(r)
		if err != nil {
			yield(nil, fmt.Errorf("model provider %s: %w", name, err))
			return
		}
		var response *http.Response
		err = p.client.Post(ctx, "chat/completions", params, &response, option.WithJSONSet("stream", true))
		if err != nil {
			yield(nil, endpoint.StreamError(ctx, err))
			return
		}
		decoder := ssestream.NewDecoder(response)
		defer func() { _ = decoder.Close() }()
		turn := newTurn(p.origin(params.Model), len(r.Messages))
		if err := turn.read(decoder, yield); err != nil {
			if !errors.Is(err, errLeft) {
				yield(nil, endpoint.StreamError(ctx, err))
			}
			return
		}
		turn.end(yield)
	}
}
