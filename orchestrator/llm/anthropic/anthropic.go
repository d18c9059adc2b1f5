// Package anthropic asks Anthropic's models over the Messages API, by the
// official SDK.
//
// The SDK is used for the request's types, the transport and the decoding of the
// event stream, and is kept from all else it would do by itself: it reads nothing
// from the environment or from profiles on disk, repeats no request, and traces
// nothing. What the SDK leaves to its users is done here: a stream that ends
// without a reason is llm.ErrTruncated, and calls are yielded only when the whole
// turn arrived.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/internal/wire"
)

// name is the provider's name in errors.
const name = "anthropic"

// origin marks opaque blocks: they go back to the model that made them.
func origin(model string) string { return name + "/" + model }

// defaultMaxTokens is what every current model can write in one answer.
const defaultMaxTokens = 8192

// Options say whom to ask. Zero fields take the defaults they name.
type Options struct {
	APIKey string
	// BaseURL is the address without "/v1"; empty is Anthropic's own.
	BaseURL string
	// Model answers requests that name none.
	Model string
	// MaxTokens bounds answers of requests that do not; 0 means 8192.
	MaxTokens int
	// Idle is how long the provider may send nothing; 0 means five minutes. The
	// whole turn is bounded by the context of Stream.
	Idle time.Duration
	// HTTPClient carries the requests; nil means a plain one without a proxy.
	HTTPClient *http.Client
}

// Provider asks Anthropic. It may be used concurrently.
type Provider struct {
	messages  sdk.MessageService
	model     string
	maxTokens int
}

var _ llm.Provider = (*Provider)(nil)

var endpoint = wire.Endpoint{Provider: name, KeyName: "ANTHROPIC_API_KEY", ModelName: "ANTHROPIC_MODEL", URLName: "ANTHROPIC_BASE_URL"}

// New checks o. It asks nothing yet.
func New(o Options) (*Provider, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("model provider %s: %w", name, err)
	}
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), // the address, in spite of its name
		option.WithHTTPClient(endpoint.NewClient(o.HTTPClient, o.Idle)),
		option.WithMaxRetries(0), // it would wait for any Retry-After
		option.WithoutOpenTelemetry(),
		option.WithOpenTelemetryPropagation(false),
		option.WithOpenTelemetryTracesContentMode(option.OpenTelemetryContentModeMetadataOnly),
		option.WithAPIKey(o.APIKey),
	}
	if o.BaseURL != "" {
		options = append(options, option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")))
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = defaultMaxTokens
	}
	// A service, not a client: the constructor of clients reads the environment.
	return &Provider{messages: sdk.NewMessageService(options...), model: o.Model, maxTokens: o.MaxTokens}, nil
}

func (o Options) check() error {
	switch {
	case o.APIKey == "":
		return errors.New("no API key; set ANTHROPIC_API_KEY")
	case strings.ContainsAny(o.APIKey, " \t\r\n"):
		return errors.New("the API key contains white space; check ANTHROPIC_API_KEY")
	case o.Model == "":
		return errors.New("no model; set ANTHROPIC_MODEL")
	case o.MaxTokens < 0:
		return fmt.Errorf("max tokens is %d; it must not be negative", o.MaxTokens)
	case o.Idle < 0:
		return fmt.Errorf("idle time is %v; it must not be negative", o.Idle)
	case o.BaseURL != "":
		return wire.CheckURL(o.BaseURL)
	}
	return nil
}

// Stream asks for one turn.
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		params, err := p.params(r)
		if err != nil {
			yield(nil, fmt.Errorf("model provider %s: %w", name, err))
			return
		}
		stream := p.messages.NewStreaming(ctx, params)
		defer func() { _ = stream.Close() }()
		turn := newTurn(origin(params.Model), len(r.Messages))
		for stream.Next() {
			events, err := turn.take(stream.Current())
			if !yieldAll(yield, events, err) {
				return
			}
		}
		if err := stream.Err(); err != nil {
			yield(nil, streamError(ctx, err))
			return
		}
		events, err := turn.end()
		yieldAll(yield, events, err)
	}
}

// yieldAll reports whether to go on.
func yieldAll(yield func(llm.Event, error) bool, events []llm.Event, err error) bool {
	for _, e := range events {
		if !yield(e, nil) {
			return false
		}
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	return true
}

// streamError keeps nothing of the SDK's errors, which hold what was said.
func streamError(ctx context.Context, err error) error {
	if told := (*sdk.Error)(nil); ctx.Err() == nil && errors.As(err, &told) {
		return endpoint.EventFault([]byte(told.RawJSON()))
	}
	return endpoint.StreamError(ctx, err)
}
