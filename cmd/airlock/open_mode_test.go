package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOpenModeShowsValuesToScriptsOnly lets a script work on real values and hide
// them in what it returns.
func TestOpenModeShowsValuesToScriptsOnly(t *testing.T) {
	t.Parallel()
	c := openSystem(t, func(c *Config) { c.PIIMode = "open" })
	out := c.execute(t, "user123", `
		const [row] = await callMCPTool("database__query", {query: "SELECT email, phone FROM customers WHERE phone IS NOT NULL ORDER BY id LIMIT 1"});
		console.log(row.email.toUpperCase(), [...row.phone].reverse().join(""));
		return {sees: row.email.includes("@"), row, coded: btoa(row.email), spaced: [...row.email].join(" ")};`, false)
	var got struct {
		Sees bool
		Row  struct{ Email, Phone string }
	}
	if err := json.Unmarshal(out.Result, &got); err != nil {
		t.Fatalf("result %s: %v", out.Result, err)
	}
	if !got.Sees {
		t.Error("the script was shown a token")
	}
	if !strings.HasPrefix(got.Row.Email, "[EMAIL_") || !strings.HasPrefix(got.Row.Phone, "[PHONE_") {
		t.Errorf("the caller was shown %s", out.Result)
	}
	var real []struct{ Email, Phone string }
	c.query(t, "SELECT email, phone FROM customers WHERE phone IS NOT NULL ORDER BY id LIMIT 1", &real)
	left := strings.ToLower(string(out.Result) + out.Stdout)
	local, _, _ := strings.Cut(real[0].Email, "@")
	if strings.Contains(left, local) {
		t.Errorf("the address shows in %s", left)
	}
}
