package web

import (
	"time"

	"github.com/alecthomas/chroma/v2"
	"golang.org/x/time/rate"
)

// Lexers search by regular expressions that go back and forth: on some texts, short
// ones too, one token takes a quarter of a second, and there may be thousands.
//
// lexTime bounds the work on one text, as far as that can be: it is looked at between
// two tokens. What lexers waste on all such texts together is bounded by wasted: once
// that is used up, code is shown without colours for a while.
const lexTime = 500 * time.Millisecond

var wasted = newWaste()

func newWaste() *rate.Limiter { return rate.NewLimiter(rate.Every(15*time.Second), 5) }

// lex splits code into its tokens. It reports whether there was time for that.
func lex(lexer chroma.Lexer, code string, wasted *rate.Limiter) (chroma.Iterator, bool) {
	if wasted.Tokens() < 1 {
		return nil, false
	}
	next, err := lexer.Tokenise(nil, code)
	if err != nil {
		return nil, false
	}
	var tokens []chroma.Token
	begun := time.Now()
	for token := next(); token != chroma.EOF; token = next() {
		if time.Since(begun) > lexTime {
			wasted.Allow()
			return nil, false
		}
		if last := len(tokens) - 1; last >= 0 && tokens[last].Type == token.Type {
			tokens[last].Value += token.Value
			continue
		}
		tokens = append(tokens, token)
	}
	return chroma.Literator(tokens...), true
}
