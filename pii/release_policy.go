package pii

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Policy says which real values an upstream server may be given. The zero value
// is the default, "origin".
type Policy struct {
	mode  string
	types []Type
}

// The modes of a policy.
const (
	releaseOrigin = "origin" // values it sent itself, and the user's
	releaseAll    = "all"
	releaseNone   = "none"
	releaseTypes  = "types" // those, and what origin allows
)

// ParsePolicy reads "origin", "all" or "none"; empty is "origin".
func ParsePolicy(mode string) (Policy, error) {
	switch mode {
	case "", releaseOrigin:
		return Policy{}, nil
	case releaseAll, releaseNone:
		return Policy{mode: mode}, nil
	}
	return Policy{}, fmt.Errorf(`release %q: must be "origin", "all", "none" or a list of types such as ["EMAIL","PHONE"]`, mode)
}

// PolicyOf allows values of these types, whatever their origin, beside what
// "origin" allows.
func PolicyOf(types []Type) Policy {
	return Policy{mode: releaseTypes, types: slices.Clone(types)}
}

// UnmarshalJSON reads a mode or a list of types.
func (p *Policy) UnmarshalJSON(data []byte) error {
	var types []Type
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		if err := json.Unmarshal(data, &types); err != nil {
			return fmt.Errorf(`release: a list must hold names of types such as "EMAIL": %w`, err)
		}
		*p = PolicyOf(types)
		return nil
	}
	var mode string
	if err := json.Unmarshal(data, &mode); err != nil {
		return fmt.Errorf(`release: must be "origin", "all", "none" or a list of types: %w`, err)
	}
	parsed, err := ParsePolicy(mode)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (p Policy) MarshalJSON() ([]byte, error) {
	switch p.mode {
	case releaseTypes:
		return json.Marshal(append([]Type{}, p.types...))
	case "":
		return json.Marshal(releaseOrigin)
	}
	return json.Marshal(p.mode)
}

// Release says what a call gives away, for the audit.
type Release struct {
	Types []Type
}

// RefusedError says which types a server may not be given, and how to allow it.
type RefusedError struct {
	Server string
	Types  []Type
	policy Policy
}

// Error names the line of catalog.json that would allow the call.
func (e *RefusedError) Error() string {
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i] = string(t)
	}
	return fmt.Sprintf("server %q may not be given %s: %s; to allow it, set %s in the entry %q of catalog.json",
		e.Server, strings.Join(names, ", "), e.reason(), e.Line(), e.Server)
}

func (e *RefusedError) reason() string {
	if e.policy.mode == releaseNone {
		return "its release policy is none"
	}
	return "the values came from elsewhere"
}

// Line is the line of catalog.json that would allow the call.
func (e *RefusedError) Line() string {
	types := slices.Clone(e.policy.types)
	for _, t := range e.Types {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	list, err := json.Marshal(types)
	if err != nil { // names of types always marshal
		return `"release": "all"`
	}
	return `"release": ` + string(list)
}

// Check decides whether the values in args may be given to server. It returns
// the types that a call would release, or a *RefusedError. Arguments have to be
// tokenized first, so that a raw value is judged like its token.
func (p Policy) Check(v *Vault, args Tokenized, server string) (Release, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	entries, err := v.entriesIn(args.String())
	if err != nil {
		return Release{}, fmt.Errorf("check what %q is given: %w", server, err)
	}
	var r Release
	var refused []Type
	for _, e := range entries {
		r.Types = e.addTypes(r.Types)
		if !p.allows(v, e, server) {
			refused = e.addTypes(refused)
		}
	}
	slices.Sort(r.Types)
	if len(refused) > 0 {
		slices.Sort(refused)
		return Release{}, &RefusedError{Server: server, Types: refused, policy: p}
	}
	return r, nil
}

// addTypes adds every type that e was found as.
func (e *entry) addTypes(to []Type) []Type {
	for _, t := range append([]Type{e.typ}, e.also...) {
		if !slices.Contains(to, t) {
			to = append(to, t)
		}
	}
	return to
}

// allows judges one value. The caller holds v.mu.
func (p Policy) allows(v *Vault, e *entry, server string) bool {
	switch p.mode {
	case releaseAll:
		return true
	case releaseNone:
		return false
	case releaseTypes:
		if e.isOneOf(p.types) {
			return true
		}
	}
	if slices.Contains(e.origins, OriginUser) || slices.Contains(e.origins, OriginServer(server)) {
		return true
	}
	return onlyScript(e.origins) && !v.HoldsUnseen() && v.heardNobodyBut(server)
}

// isOneOf reports whether all types that e was found as are listed.
func (e *entry) isOneOf(types []Type) bool {
	for _, t := range e.addTypes(nil) {
		if !slices.Contains(types, t) {
			return false
		}
	}
	return true
}

// HoldsUnseen reports whether a script may know values that no detector saw, and so
// may have left them in what no detector can read, such as a picture.
func (v *Vault) HoldsUnseen() bool { return v.mode == Open || v.unseen.Load() }

// heardNobodyBut reports whether no other server has answered in the session. One
// that has may have sent a value in pieces or in a code that no detector undoes, such
// as SQL's hex(), and a script may have put it together. The caller holds v.mu.
func (v *Vault) heardNobodyBut(server string) bool {
	for _, name := range v.heard {
		if name != server {
			return false
		}
	}
	return true
}

// onlyScript reports whether nobody but a script brought the value: where nothing
// could have told it, the script made it up.
func onlyScript(origins []Origin) bool {
	return len(origins) == 1 && origins[0] == OriginScript
}
