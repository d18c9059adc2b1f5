package nearest

import "testing"

func TestNameFindsTypingErrorsAndNothingElse(t *testing.T) {
	t.Parallel()
	candidates := []string{"transport", "command", "args", "env", "customers", "customer_id"}
	for name, want := range map[string]string{
		"transprot":    "transport",
		"comand":       "command",
		"Customers":    "customers",
		"costumer_id":  "customer_id",
		"arg":          "args",
		"e":            "",
		"webhook":      "",
		"":             "",
		"zzzzzzzzzzzz": "",
	} {
		if got := Name(name, candidates); got != want {
			t.Errorf("Name(%q) = %q, want %q", name, got, want)
		}
	}
}
