package bridge

import (
	"encoding/json"
	"errors"
	"net/http"

	"airlock/pii"
)

// protectedQuestions are the routes below /v1/pii: what a script may learn about
// values that it has tokens of only. The vault decides what it tells.
var protectedQuestions = map[string]handler{
	"attr": (*request).attribute,
	"rank": (*request).rank,
	"same": (*request).same,
}

// maxQuestionBody bounds a question about protected values.
const maxQuestionBody = 256 << 10

// attribute answers {"token":"[...]","attribute":"brand"} with {"value":"visa"},
// or null if the value has no such attribute.
func (r *request) attribute() answer {
	var token, name string
	if e := r.question(map[string]any{"token": &token, "attribute": &name}); e != nil {
		return failure(e)
	}
	vault := r.access.grant.Vault
	value, err := vault.Attr(vault.FromModel(token), pii.Attribute(name))
	if err != nil {
		return failure(r.protectedError(err))
	}
	if value == "" {
		return told("value", nil)
	}
	return told("value", value)
}

// same answers {"a":"[...]","b":"[...]"} with {"same":true} when both stand for
// one value, written perhaps in different ways.
func (r *request) same() answer {
	var a, b string
	if e := r.question(map[string]any{"a": &a, "b": &b}); e != nil {
		return failure(e)
	}
	vault := r.access.grant.Vault
	same, err := vault.Same(vault.FromModel(a), vault.FromModel(b))
	if err != nil {
		return failure(r.protectedError(err))
	}
	return told("same", same)
}

// rank answers {"tokens":["[...]",...]} with {"ranks":[...]}, for each token its
// place in the order of the values.
func (r *request) rank() answer {
	var given []string
	if e := r.question(map[string]any{"tokens": &given}); e != nil {
		return failure(e)
	}
	vault := r.access.grant.Vault
	tokens := make([]pii.Tokenized, len(given))
	for i, t := range given {
		tokens[i] = vault.FromModel(t)
	}
	ranks, err := vault.Rank(tokens)
	if err != nil {
		return failure(r.protectedError(err))
	}
	return told("ranks", ranks)
}

// question reads a body whose members are all required.
func (r *request) question(members map[string]any) *Error {
	var known []string
	for name := range members {
		known = append(known, name)
	}
	given, e := r.body(maxQuestionBody, known...)
	if e != nil {
		return e
	}
	for name, to := range members {
		if len(given[name]) == 0 || string(given[name]) == "null" || json.Unmarshal(given[name], to) != nil {
			return badRequest("bad_field", "the field "+name+" is missing or of another type", "send tokens as strings")
		}
	}
	return nil
}

func told(name string, value any) answer {
	text, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return failure(errInternal())
	}
	return answer{http.StatusOK, string(text)}
}

// protectedError tells a script what the vault refused. The vault's errors hold
// no value.
func (r *request) protectedError(err error) *Error {
	switch {
	case errors.Is(err, pii.ErrNotToken):
		return badRequest("not_a_token", "only tokens can be asked about", pii.ErrNotToken.Error())
	case errors.Is(err, pii.ErrNotRevealed):
		return r.refuse(Error{http.StatusForbidden, "not_revealed", err.Error(), "equal values have equal tokens: group, join and count by those"})
	}
	c := call{request: r}
	return c.vaultError("ask about a protected value", err)
}
