package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	chromahtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// markdown turns what a model wrote into markup that can be trusted: goldmark makes it
// and leaves raw HTML out, bluemonday lets pass what is on its list and nothing else.
type markdown struct {
	maker goldmark.Markdown
	clean *bluemonday.Policy
}

func newMarkdown() *markdown {
	clean := bluemonday.NewPolicy()
	clean.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "del", "blockquote", "ul", "li", "pre", "code",
		"table", "thead", "tbody", "tr", "th", "td")
	clean.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	clean.AllowElements("ol")
	clean.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td")
	clean.AllowAttrs("class").Matching(regexp.MustCompile(`^(chroma|[a-z]{1,3}[0-9]?)$`)).OnElements("pre", "span")
	clean.AllowElements("span")
	clean.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre") // one that scrolls must be reached by keys
	clean.AllowAttrs("href").OnElements("a")
	clean.AllowURLSchemes("http", "https", "mailto", "tel")
	clean.AllowRelativeURLs(true)
	clean.RequireNoReferrerOnLinks(true)
	clean.RequireNoFollowOnLinks(true)
	clean.AddTargetBlankToFullyQualifiedLinks(true)
	clean.AllowAttrs("src").Matching(regexp.MustCompile(`^` + imagePrefix)).OnElements("img")
	clean.AllowAttrs("alt").OnElements("img")
	maker := goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify), goldmark.WithRendererOptions(
		renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100)),
	))
	return &markdown{maker: maker, clean: clean}
}

// maxMarkdown bounds what is made into markup; the rest of a longer answer is shown as
// it was written.
const maxMarkdown = 256 << 10

func (m *markdown) render(text string) template.HTML {
	rest := ""
	if len(text) > maxMarkdown {
		text, rest = strings.ToValidUTF8(text[:maxMarkdown], ""), text[maxMarkdown:]
	}
	var b bytes.Buffer
	if err := m.maker.Convert([]byte(text), &b); err != nil {
		b.Reset()
		rest = text + rest
	}
	out := m.clean.SanitizeBytes(b.Bytes())
	if rest != "" {
		out = append(out, `<pre tabindex="0">`+template.HTMLEscapeString(rest)+"</pre>"...)
	}
	return template.HTML(out) //nolint:gosec // this is the one place where markup from outside is let through, sanitized
}

// nodes renders code with colours, and pictures and links that name the user's own
// files as addresses of this page.
type nodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (n nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, n.fenced)
	r.Register(ast.KindCodeBlock, n.indented)
	r.Register(ast.KindImage, n.image)
	r.Register(ast.KindLink, n.link)
}

func (nodes) fenced(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := node.(*ast.FencedCodeBlock)
		_, _ = w.WriteString(string(highlight(string(block.Language(source)), string(block.Lines().Value(source)))))
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) indented(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(string(highlight("", string(node.(*ast.CodeBlock).Lines().Value(source)))))
	}
	return ast.WalkSkipChildren, nil
}

// image shows files of the user; one from elsewhere would tell its host who looks, so
// it becomes a link.
func (nodes) image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	picture := node.(*ast.Image)
	alt := template.HTMLEscapeString(string(picture.Text(source))) //nolint:staticcheck // the text of an image's label, which has no other source
	if file, ok := ownFile(string(picture.Destination)); ok {
		_, _ = w.WriteString(`<img src="` + imagePrefix + template.HTMLEscapeString(file) + `" alt="` + alt + `">`)
	} else {
		_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(string(picture.Destination)) + `">` + alt + `</a>`)
	}
	return ast.WalkSkipChildren, nil
}

func (nodes) link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</a>")
		return ast.WalkContinue, nil
	}
	target := string(node.(*ast.Link).Destination)
	if file, ok := ownFile(target); ok {
		target = downloadPrefix + file
	}
	_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(target) + `">`)
	return ast.WalkContinue, nil
}

const (
	imagePrefix    = "/ui/files/image/"
	downloadPrefix = "/ui/files/download/"
)

// ownFile reports whether a target names a file below /artifacts, and how it stands in
// an address.
func ownFile(target string) (string, bool) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return "", false
	}
	name, absolute := u.Path, strings.HasPrefix(u.Path, "/")
	if absolute {
		var below bool
		if name, below = strings.CutPrefix(name, "/artifacts/"); !below {
			return "", false
		}
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "./"), "artifacts/")
	return pathOf(name), name != "" && !strings.Contains(name, "..")
}

// pathOf escapes the name of a file for an address.
func pathOf(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// maxHighlight bounds what is coloured: lexers are slow on some texts.
const maxHighlight = 32 << 10

var formatter = chromahtml.New(chromahtml.WithClasses(true), chromahtml.PreventSurroundingPre(true))

// highlight colours code, which stays text.
func highlight(language, code string) template.HTML {
	plain := template.HTML(`<pre tabindex="0"><code>` + template.HTMLEscapeString(code) + "</code></pre>") //nolint:gosec // it was escaped
	lexer := lexers.Get(language)
	if lexer == nil || len(code) > maxHighlight {
		return plain
	}
	tokens, ok := lex(lexer, code, wasted)
	if !ok {
		return plain
	}
	var b strings.Builder
	if err := formatter.Format(&b, styles.Fallback, tokens); err != nil {
		return plain
	}
	return template.HTML(`<pre class="chroma" tabindex="0"><code>` + b.String() + "</code></pre>") //nolint:gosec // the formatter escapes what it did not make
}

// pretty indents JSON for reading.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
