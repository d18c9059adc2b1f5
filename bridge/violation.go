package bridge

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// violations lists what went wrong, the innermost first known. Of alternatives
// only their keyword is told: which of them was meant, nobody knows.
func violations(e *jsonschema.ValidationError) []violation {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.PropertyNames:
	default:
		if len(e.Causes) > 0 {
			var all []violation
			for _, cause := range e.Causes {
				all = append(all, violations(cause)...)
			}
			return all
		}
	}
	v := violation{path: e.InstanceLocation, keyword: "schema", want: wanted(e.ErrorKind)}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		v.keyword = path[0]
	}
	return []violation{v}
}

// wanted says what the schema asks for. Only the schema is quoted, never what was
// there instead.
func wanted(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "want " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return "want one of " + quoteSchema(k.Want)
	case *kind.Const:
		return "want " + quoteSchema(k.Want)
	case *kind.Required:
		return "missing " + quoteNames(k.Missing)
	case *kind.DependentRequired:
		return "missing " + quoteNames(k.Missing)
	case *kind.Format:
		return "want " + k.Want
	case *kind.Pattern:
		return "want " + short(k.Want, 100)
	case *kind.MinLength:
		return fmt.Sprintf("want at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("want at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("want at least %d", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("want at most %d", k.Want)
	case *kind.Minimum:
		return "want at least " + k.Want.RatString()
	case *kind.Maximum:
		return "want at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "want more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "want less than " + k.Want.RatString()
	case *kind.AdditionalProperties:
		return "there are fields that the tool does not know"
	}
	return ""
}

func quoteSchema(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "another value"
	}
	return short(string(text), 200)
}

func quoteNames(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, brief(n))
	}
	return short(listed(all), 300)
}
