package web

import (
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// The text makes the lexer of JavaScript try every way to end a string, at each place
// anew: done to its end it takes longer than any test may.
func TestHostileCodeIsLeftAlone(t *testing.T) {
	t.Parallel()
	code, wasted := strings.Repeat(`"\`, 16<<10), newWaste()
	for range 10 {
		if _, ok := lex(lexers.Get("javascript"), code, wasted); ok {
			t.Fatal("the lexer has come to its end")
		}
	}
	if _, ok := lex(lexers.Get("javascript"), "1", wasted); ok {
		t.Error("what the lexer wastes is not bounded")
	}
}

func TestTokensAreWhole(t *testing.T) {
	t.Parallel()
	const code = "const a = `x${1}`; // é\r\n\tlet 値 = /r/;\n"
	tokens, ok := lex(lexers.Get("javascript"), code, newWaste())
	if !ok {
		t.Fatal("there was no time")
	}
	var back strings.Builder
	last := chroma.EOF
	for token := tokens(); token != chroma.EOF; token = tokens() {
		if token.Type == last.Type {
			t.Errorf("%v follows %v of the same type", token, last)
		}
		last = token
		back.WriteString(token.Value)
	}
	if back.String() != strings.ReplaceAll(code, "\r\n", "\n") {
		t.Errorf("the tokens are %q", back.String())
	}
}
