package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeAPI answers as the API does, with what a test puts into it.
type fakeAPI struct {
	key     string            // that callers must have, if set
	answers map[string]string // by method and path, without the query
	events  []string          // of every task
	asked   []string
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
	if f.key != "" && r.Header.Get("Authorization") != "Bearer "+f.key {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"unauthorized","message":"not authorized","hint":"sign in"}}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/events") {
		for n, e := range f.events {
			_, _ = fmt.Fprintf(w, "id: %d\ndata: {\"seq\":%d,\"at\":\"2026-01-02T03:04:05Z\",%s}\n\n", n+1, n+1, e)
		}
		return
	}
	answer, ok := f.answers[r.Method+" "+r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"error":{"code":"not_found","message":"not <b>found</b>","hint":"look elsewhere"}}`
	}
	w.Header().Set("Location", "/tasks/task_1?userId=local")
	_, _ = io.WriteString(w, answer)
}

const localAbout = `{"model":"skillmatch","piiMode":"sealed","languages":["javascript"],"userId":"local","rights":{"run":true,"reveal":true,"approve":true}}`

// visitPage serves a page over f and returns a function that sends it one request.
func visitPage(t *testing.T, f *fakeAPI) func(method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	api := httptest.NewServer(f)
	t.Cleanup(api.Close)
	p, err := New(Options{API: api.Client(), BaseURL: api.URL, Key: make([]byte, 32), SignIn: f.key != ""})
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path, body string, headers ...string) (*http.Response, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		answer := w.Result()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
}

// taskEvents are those of one task that does a bit of everything.
var taskEvents = []string{
	`"type":"task.started","data":{}`,
	`"type":"model.delta","data":{"text":"I will **count"}`,
	`"type":"model.delta","data":{"text":"** <script>alert(1)</script>."}`,
	`"type":"model.delta","data":{"part":"last"}`,
	`"type":"execution.started","data":{"executionId":"exe_1","language":"javascript","code":"return '<b>'"}`,
	`"type":"tool.called","data":{"executionId":"exe_1","tool":"database__query"}`,
	`"type":"approval.required","data":{"executionId":"exe_1","tool":"database__query","approval":{"approvalId":"apr_1","tool":"database__query","server":"database","arguments":{"to":"ann@example.org"},"tokenized":{"to":"[EMAIL_1_k7q2f]"},"releases":["EMAIL"],"expires":"2026-01-02T03:09:05Z"}}`,
	`"type":"approval.answered","data":{"executionId":"exe_1","tool":"database__query","outcome":"approved","approval":{"approvalId":"apr_1"}}`,
	`"type":"tool.finished","data":{"executionId":"exe_1","tool":"database__query","outcome":"ok","durationMs":12,"bytes":2048}`,
	`"type":"execution.output","data":{"executionId":"exe_1","stream":"stdout","text":"<i>one</i>\n"}`,
	`"type":"execution.output","data":{"executionId":"exe_1","stream":"stdout","text":"two\n"}`,
	`"type":"artifact.created","data":{"name":"<u>.csv","bytes":7}`,
	`"type":"execution.finished","data":{"executionId":"exe_1","outcome":"ok","durationMs":34}`,
	`"type":"model.delta","data":{"text":"There are two."}`,
	`"type":"model.delta","data":{"part":"last"}`,
	`"type":"task.completed","data":{"text":"There are two."}`,
}

func chatAPI() *fakeAPI {
	return &fakeAPI{events: taskEvents, answers: map[string]string{
		"GET /about":        localAbout,
		"GET /tasks":        `{"tasks":[{"taskId":"task_1","sessionId":"ses_1","status":"completed","task":"Count <em>all</em>","created":"2026-01-02T03:04:05Z"}]}`,
		"GET /tasks/task_1": `{"taskId":"task_1","sessionId":"ses_1","status":"completed","task":"Count <em>all</em>","created":"2026-01-02T03:04:05Z","finished":"2026-01-02T03:04:06Z"}`,
		"POST /task":        `{}`,
	}}
}

func TestChatShowsWhatHappenedAsText(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	answer, html := visit("GET", "/ui/chats/ses_1", "")
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("answered %d %s", answer.StatusCode, html)
	}
	for _, want := range []string{
		"Count &lt;em&gt;all", "<strong>count</strong>", "return", "&lt;i&gt;one&lt;/i&gt;\ntwo", "12 ms", "2.0 KB", "34 ms", "&lt;u&gt;.csv", "There are two.", `class="state completed">Done`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script>alert", "<b>", "<i>", "<em>", "<u>", "ann@example.org", "data-after"} {
		if strings.Contains(html, never) {
			t.Errorf("the page holds %q", never)
		}
	}
	if n := strings.Count(html, "There are two."); n != 1 {
		t.Errorf("the answer is there %d times", n)
	}
}

func TestChatsOfOthersAreNotFound(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	if answer, _ := visit("GET", "/ui/chats/ses_2", ""); answer.StatusCode != http.StatusNotFound {
		t.Errorf("answered %d", answer.StatusCode)
	}
}

// patchesOf reads a stream.
func patchesOf(t *testing.T, stream string) (list []patch, last string) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		id, rest, _ := strings.Cut(block, "\n")
		data, ok := strings.CutPrefix(rest, "data: ")
		if !strings.HasPrefix(id, "id: ") || !ok {
			continue
		}
		var patches []patch
		if err := json.Unmarshal([]byte(data), &patches); err != nil {
			t.Fatal(err)
		}
		list, last = append(list, patches...), strings.TrimPrefix(id, "id: ")
	}
	return list, last
}

// TestStreamGoesOnWhereItEnded breaks off after each event: every piece that the page
// lacks then comes, and none that it has.
func TestStreamGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	visit := visitPage(t, f)
	began := map[int]int{2: 1, 5: 2, 7: 3, 14: 4} // the event with which the n-th piece begins
	for after := range taskEvents {
		_, stream := visit("GET", "/ui/tasks/task_1/stream", "", "Last-Event-ID", fmt.Sprint(after))
		patches, last := patchesOf(t, stream)
		if last != fmt.Sprint(len(taskEvents)) || !strings.HasSuffix(stream, "event: end\ndata: {}\n\n") {
			t.Errorf("after %d the stream ends with %s", after, last)
		}
		appended, want := 0, 0
		for _, p := range patches {
			if p.Do == "append" {
				appended++
			}
		}
		for event := range began {
			if event > after {
				want++
			}
		}
		if appended != want {
			t.Errorf("after %d come %d new pieces, want %d", after, appended, want)
		}
	}
	if answer, _ := visit("GET", "/ui/tasks/task_1/stream", "", "Last-Event-ID", "x", "Accept", "application/json"); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad id answered %d", answer.StatusCode)
	}
}

// TestStreamBringsWhatThePageLacks is about a page that was made before the text of its
// task could be had.
func TestStreamBringsWhatThePageLacks(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	_, stream := visit("GET", "/ui/tasks/task_1/stream?after=1&asked=1", "")
	patches, _ := patchesOf(t, stream)
	for _, want := range []patch{{Do: "fill", At: "asked-task_1", Text: "Count <em>all</em>"}, {Do: "title", At: "task_1", Text: "Count <em>all</em>"}} {
		if !slices.Contains(patches, want) {
			t.Errorf("the stream lacks %+v", want)
		}
	}
	_, stream = visit("GET", "/ui/tasks/task_1/stream?after=1", "")
	if patches, _ := patchesOf(t, stream); slices.ContainsFunc(patches, func(p patch) bool { return p.Do == "fill" || p.Do == "title" }) {
		t.Error("the stream brings what the page has")
	}
}

// TestStreamOfAnEndedTaskEnds is about a reader who has all but the news of the end.
func TestStreamOfAnEndedTaskEnds(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	_, stream := visit("GET", "/ui/tasks/task_1/stream", "", "Last-Event-ID", fmt.Sprint(len(taskEvents)))
	if patches, _ := patchesOf(t, stream); len(patches) > 0 || !strings.HasSuffix(stream, "event: end\ndata: {}\n\n") {
		t.Errorf("the stream is %q", stream)
	}
}

func TestFloodsOfOutputAreCapped(t *testing.T) {
	t.Parallel()
	turn := newTurn(task{ID: "task_1"}, about{})
	begin := event{Seq: 1, Type: "execution.started"}
	begin.Data.Execution = "exe_1"
	turn.apply(begin)
	line := strings.Repeat("é", 511) + "\n"
	for n := range 200 {
		more := event{Seq: n + 2, Type: "execution.output"}
		more.Data.Execution, more.Data.Text = "exe_1", line
		turn.apply(more)
	}
	cell := turn.Items[0]
	if len(cell.Output) > maxOutput || int64(len(cell.Output))+cell.Dropped < int64(200*len(line))-4 {
		t.Errorf("%d bytes are shown, %d not", len(cell.Output), cell.Dropped)
	}
}

func TestAskingOpensTheTurn(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	visit := visitPage(t, f)
	answer, body := visit("POST", "/ui/ask", `{"task":"Count","session":"ses_1","files":[{"name":"a.csv","content":"eA=="}]}`)
	var got struct{ Task, Session, HTML string }
	if err := json.Unmarshal([]byte(body), &got); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("answered %d %s", answer.StatusCode, body)
	}
	if got.Task != "task_1" || got.Session != "ses_1" || !strings.Contains(got.HTML, `id="turn-task_1"`) {
		t.Errorf("answered %+v", got)
	}
	if want := `POST /task {"userId":"local","task":"Count","sessionId":"ses_1","files":[{"name":"a.csv","content":"eA=="}]}`; !strings.Contains(strings.Join(f.asked, "\n"), want) {
		t.Errorf("the API was asked\n%s\nnot\n%s", strings.Join(f.asked, "\n"), want)
	}
}

func TestRequestsOfOtherPagesAreRefused(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	for _, path := range []string{"/ui/ask", "/ui/tasks/task_1/cancel", "/ui/signout"} {
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
			if answer, body := visit("POST", path, "{}", header...); answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "this page") {
				t.Errorf("%s with %v answered %d %s", path, header, answer.StatusCode, body)
			}
		}
	}
	if answer, _ := visit("POST", "/ui/ask", `{"task":"x"}`, "Content-Type", "text/plain"); answer.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a body that is not called JSON answered %d", answer.StatusCode)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	visit := visitPage(t, chatAPI())
	for _, path := range []string{"/", "/ui/chats/ses_1", "/ui/nothing", "/ui/signin", "/ui/tasks"} {
		answer, _ := visit("GET", path, "")
		if answer.Header.Get("Content-Security-Policy") != policy || answer.Header.Get("X-Frame-Options") != "DENY" || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", path, answer.Header)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %s", policy)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	f.key = "alk_secret"
	visit := visitPage(t, f)
	if answer, _ := visit("GET", "/", ""); answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/ui/signin" {
		t.Errorf("a stranger is answered %d, %s", answer.StatusCode, answer.Header.Get("Location"))
	}
	if answer, _ := visit("GET", "/ui/chats/ses_1", ""); answer.Header.Get("Location") != "/ui/signin?back=%2Fui%2Fchats%2Fses_1" {
		t.Errorf("a stranger who wants a chat is sent to %s", answer.Header.Get("Location"))
	}
	for back, want := range map[string]string{"/ui/chats/ses_1": "/ui/chats/ses_1", "": "/", "//evil.example/ui/": "/", "https://evil.example/": "/", "/ui/signin": "/"} {
		body := fmt.Sprintf(`{"credential":"alk_secret","back":%q}`, back)
		if _, text := visit("POST", "/ui/signin", body); strings.TrimSpace(text) != fmt.Sprintf(`{"go":%q}`, want) {
			t.Errorf("who wants to go back to %q is sent to %s", back, text)
		}
	}
	if answer, body := visit("POST", "/ui/ask", `{}`); answer.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "unauthorized") {
		t.Errorf("a stranger's script is answered %d %s", answer.StatusCode, body)
	}
	for body, status := range map[string]int{`{"credential":"wrong"}`: 401, `{"credential":" "}`: 400, `{"credential":"a\nb"}`: 400, `{`: 400} {
		if answer, text := visit("POST", "/ui/signin", body); answer.StatusCode != status || len(answer.Cookies()) > 0 {
			t.Errorf("%s is answered %d %s", body, answer.StatusCode, text)
		}
	}
	answer, _ := visit("POST", "/ui/signin", `{"credential":" alk_secret\n"}`, "Origin", "https://example.com", "Sec-Fetch-Site", "same-origin")
	if len(answer.Cookies()) != 1 {
		t.Fatalf("answered %d with %d cookies", answer.StatusCode, len(answer.Cookies()))
	}
	c := answer.Cookies()[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, "alk_") {
		t.Errorf("the cookie is %+v", c)
	}
	if answer, _ := visit("GET", "/", "", "Cookie", c.Name+"="+c.Value); answer.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %d", answer.StatusCode)
	}
	if answer, _ := visit("GET", "/", "", "Cookie", c.Name+"=x"+c.Value[1:]); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("with a forged cookie: %d", answer.StatusCode)
	}
	if answer, _ := visit("POST", "/ui/signout", "{}"); answer.Cookies()[0].MaxAge >= 0 {
		t.Error("signing out leaves the cookie")
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	k, err := newCookies(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	for ends, want := range map[time.Duration]string{time.Minute: "key", -time.Minute: ""} {
		value, err := k.seal("key", time.Now().Add(ends))
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: value})
		if got := k.credential(r); got != want {
			t.Errorf("a session that ends in %v holds %q", ends, got)
		}
	}
	if _, err := newCookies(nil); err == nil {
		t.Error("an empty key is taken")
	}
}

func TestDocumentsAreFramedWithTokens(t *testing.T) {
	t.Parallel()
	f := chatAPI()
	f.answers["GET /artifacts/local/a.html"] = "<script>1</script>"
	visit := visitPage(t, f)
	answer, body := visit("GET", "/ui/files/frame/a.html", "", "Sec-Fetch-Dest", "iframe")
	if answer.StatusCode != http.StatusOK || body != "<script>1</script>" || answer.Header.Get("Content-Security-Policy") != framed || answer.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("answered %d %s %v", answer.StatusCode, body, answer.Header)
	}
	if !strings.Contains(strings.Join(f.asked, "\n"), "GET /artifacts/local/a.html?tokenized=true") {
		t.Errorf("the API was asked %q", f.asked)
	}
	if answer, _ := visit("GET", "/ui/files/frame/a.html", "", "Sec-Fetch-Dest", "document"); answer.StatusCode != http.StatusForbidden {
		t.Errorf("outside of a frame: %d", answer.StatusCode)
	}
}
