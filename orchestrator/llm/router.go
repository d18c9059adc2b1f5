package llm

import (
	"context"
	"fmt"
	"iter"
)

// Route is where requests for one model go.
type Route struct {
	Provider Provider
	// Model is what the provider calls it; empty takes the provider's default.
	Model string
}

// Router is a Provider of several models, by names of our own such as
// "openai/gpt-5-mini". It may be used concurrently.
type Router struct {
	first  string
	routes map[string]Route
}

var _ Provider = (*Router)(nil)

// NewRouter makes a router of routes; requests that name no model go to first.
func NewRouter(first string, routes map[string]Route) (*Router, error) {
	if _, ok := routes[first]; !ok {
		return nil, fmt.Errorf("model %q has no route", first)
	}
	return &Router{first: first, routes: routes}, nil
}

// Stream asks the model that r names by the router's own name.
func (t *Router) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	if r.Model == "" {
		r.Model = t.first
	}
	route, ok := t.routes[r.Model]
	if !ok {
		return func(yield func(Event, error) bool) {
			yield(nil, fmt.Errorf("model %q has no route", r.Model))
		}
	}
	r.Model = route.Model
	return route.Provider.Stream(ctx, r)
}
