package orchestrator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/orchestrator/llm"
)

// Model is one that tasks may name.
type Model struct {
	// ID is how tasks name it, and how requests to the Provider do:
	// "provider/model".
	ID string
	// Price is what it costs; nil says that nobody told.
	Price *Price
}

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	// Input and Output are for tokens that were read and written, CachedInput for
	// those read that the provider had cached.
	Input, CachedInput, Output float64
}

const tokensOfPrice = 1_000_000

// cost is what a turn cost, in US dollars. Cached tokens are among those read.
func (p Price) cost(u llm.Usage) float64 {
	fresh := max(u.InputTokens-u.CachedTokens, 0)
	return (float64(fresh)*p.Input + float64(u.CachedTokens)*p.CachedInput + float64(u.OutputTokens)*p.Output) / tokensOfPrice
}

// checkModels refuses a list that cannot work.
func (o Options) checkModels() error {
	seen := map[string]bool{}
	for _, m := range o.Models {
		switch {
		case m.ID == "" || seen[m.ID]:
			return fmt.Errorf("orchestrator: model %q is listed without a name or twice", m.ID)
		case m.Price != nil && (m.Price.Input < 0 || m.Price.CachedInput < 0 || m.Price.Output < 0):
			return fmt.Errorf("orchestrator: the price of model %q is negative", m.ID)
		case o.Limits.CostUSD > 0 && m.Price == nil:
			return fmt.Errorf("orchestrator: the cost of tasks is bounded, but the price of model %q is not known", m.ID)
		}
		seen[m.ID] = true
	}
	switch {
	case o.Fallback != "" && !seen[o.Fallback]:
		return fmt.Errorf("orchestrator: the fallback %q is not among the models", o.Fallback)
	case o.Limits.CostUSD > 0 && len(o.Models) == 0:
		return errors.New("orchestrator: the cost of tasks is bounded, but no model's price is known")
	}
	return nil
}

// modelNamed finds the model that a task names: by its ID, or by the part of it
// after the provider where only one has that. No name is the first model.
func (o Options) modelNamed(name string) (string, error) {
	if name == "" {
		return o.firstModel(), nil
	}
	var found, all []string
	for _, m := range o.Models {
		if m.ID == name {
			return m.ID, nil
		}
		if _, short, _ := strings.Cut(m.ID, "/"); short == name {
			found = append(found, m.ID)
		}
		all = append(all, m.ID)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: %.80q is one of %s", ErrModel, name, strings.Join(found, ", "))
	case len(all) == 0:
		return "", fmt.Errorf("%w: %.80q; tasks can name none here", ErrModel, name)
	default:
		return "", fmt.Errorf("%w: %.80q; there are %s", ErrModel, name, strings.Join(all, ", "))
	}
}

func (o Options) firstModel() string {
	if len(o.Models) == 0 {
		return ""
	}
	return o.Models[0].ID
}

// costOf is what a turn of a model cost, in US dollars; 0 where its price is not known.
func (o Options) costOf(id string, u llm.Usage) float64 {
	i := slices.IndexFunc(o.Models, func(m Model) bool { return m.ID == id })
	if i < 0 || o.Models[i].Price == nil {
		return 0
	}
	return o.Models[i].Price.cost(u)
}
