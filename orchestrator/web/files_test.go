package web

import (
	"net/http"
	"strings"
	"testing"
)

// A click must not bring a value to where a script chose, and a document that a script
// made must not leave our page.
func TestFilesThatLeadAwayAreShownWithTokens(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	for _, name := range []string{"a.md", "a.MD", "a.html", "a.csv"} {
		f.answers["GET /artifacts/local/"+name] = "x"
	}
	visit := visitPage(t, f)
	for path, want := range map[string]string{
		"/ui/files/view/a.md": "a.md?tokenized=true ", "/ui/files/view/a.MD": "a.MD?tokenized=true ",
		"/ui/files/frame/a.html": "a.html?tokenized=true ", "/ui/files/view/a.csv": "a.csv ",
		"/ui/files/download/a.md": "a.md ",
	} {
		f.asked = nil
		if answer, body := visit("GET", path, ""); answer.StatusCode != http.StatusOK || !strings.Contains(strings.Join(f.asked, "\n"), "GET /artifacts/local/"+want) {
			t.Errorf("%s is answered %d %s by %q", path, answer.StatusCode, body, f.asked)
		}
	}
}

func TestDocumentsAreFramedOnly(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	f.answers["GET /artifacts/local/a.html"] = "<p>x"
	visit := visitPage(t, f)
	for place, status := range map[string]int{"iframe": 200, "document": 403, "object": 403, "empty": 403} {
		if answer, _ := visit("GET", "/ui/files/frame/a.html", "", "Sec-Fetch-Dest", place); answer.StatusCode != status {
			t.Errorf("as %s: %d", place, answer.StatusCode)
		}
	}
}
