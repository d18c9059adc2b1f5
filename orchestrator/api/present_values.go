package api

import "airlock/pii"

// valueView is one value beside its token.
type valueView struct {
	Token string `json:"token"`
	Value string `json:"value"`
}

// presentValues shows what tokens stand for.
func presentValues(v *pii.Vault, tokens []pii.Tokenized) ([]valueView, error) {
	views := []valueView{}
	for _, t := range tokens {
		value, err := realText(v, t)
		if err != nil {
			return nil, err
		}
		views = append(views, valueView{Token: t.String(), Value: value})
	}
	return views, nil
}
