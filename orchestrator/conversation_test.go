package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/bridge"
	"airlock/orchestrator/llm"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/workspace"
)

// anns is a personal value; a model is told its token.
const anns = "ann.lee@example.org"

func newConversation(t *testing.T, run scriptFunc, change ...func(*Limits)) *Conversation {
	t.Helper()
	return newTestService(t, silent{}, run, change...).Converse("ann")
}

// silent is a model that is never asked.
type silent struct{ llm.Provider }

func TestConversationKeepsItsSession(t *testing.T) {
	t.Parallel()
	c := newConversation(t, returns(`"`+anns+`"`))
	var ids []string
	var work sync.WaitGroup
	var mu sync.Mutex
	for range 8 {
		work.Go(func() {
			out, told, err := c.Execute(t.Context(), ExecuteRequest{Language: sandbox.JavaScript, Code: "x"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || strings.Contains(told.String(), anns) || !strings.Contains(told.String(), "EMAIL_1_") {
				t.Errorf("told %s, %v", told, err)
			}
			ids = append(ids, string(out.Session))
		})
	}
	work.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("the calls ran in the sessions %v", ids)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	out, _, err := c.Execute(t.Context(), ExecuteRequest{Language: sandbox.JavaScript, Code: "x"})
	if err != nil || string(out.Session) == ids[0] {
		t.Errorf("after its end the session is %s, %v", out.Session, err)
	}
}

func TestConversationFiles(t *testing.T) {
	t.Parallel()
	c := newConversation(t, returns("1"), func(l *Limits) { l.ModelBytes = 60 })
	ctx := t.Context()
	written, err := c.WriteFile(ctx, "/artifacts/of "+anns+".txt", "one\nmail "+anns+"\nthree\nfour\n")
	if err != nil || len(written.Artifacts) != 1 {
		t.Fatalf("written: %+v, %v", written, err)
	}
	name := written.Artifacts[0].Name.String()
	if strings.Contains(name, anns) {
		t.Errorf("the artifact's name is told as %q", name)
	}
	part, err := c.ReadFile("/artifacts/"+name, 1, 2)
	if err != nil || part.Lines != 2 || part.Total != 4 || part.Cut || strings.Contains(part.Text.String(), anns) || !strings.HasSuffix(part.Text.String(), "]\nthree\n") {
		t.Errorf("read %+v %q, %v", part, part.Text, err)
	}
	if _, err := c.WriteFile(ctx, "/workspace/long.txt", strings.Repeat("y", 100)+"\nend"); err != nil {
		t.Fatal(err)
	}
	if part, err := c.ReadFile("/workspace/long.txt", 0, 0); err != nil || !part.Cut || part.Text.Len() != 60 {
		t.Errorf("of a long line %d bytes are told, cut %v, %v", part.Text.Len(), part.Cut, err)
	}
	if part, err := c.ReadFile("/workspace/long.txt", 99, 5); err != nil || part.Lines != 0 || part.Total != 2 {
		t.Errorf("past the end: %+v, %v", part, err)
	}
	for path, want := range map[string]error{
		"/workspace/none.txt": fs.ErrNotExist, "/etc/passwd": fs.ErrPermission, "workspace/x": fs.ErrInvalid, "/workspace/../x": fs.ErrInvalid,
	} {
		if _, err := c.ReadFile(path, 0, 0); !errors.Is(err, want) {
			t.Errorf("read %s: %v", path, err)
		}
	}
	if _, err := c.WriteFile(ctx, "/tools/x.py", "x"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write into /tools: %v", err)
	}
	if _, err := c.WriteFile(ctx, "/workspace/b", "a\x00b"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadFile("/workspace/b", 0, 0); !errors.Is(err, ErrBinary) {
		t.Errorf("read of what is not text: %v", err)
	}
}

func TestConversationKeepsSkillsThatAreWritten(t *testing.T) {
	t.Parallel()
	c := newConversation(t, returns("1"))
	code := "// Adds two numbers.\n\n/** Adds. */\nfunction add(a, b) { return a + b }\nmodule.exports = add;\n"
	written, err := c.WriteFile(t.Context(), "/skills/adder.js", code)
	if err != nil || len(written.Saved) != 1 || len(written.Refused) != 0 {
		t.Fatalf("written: %+v, %v", written, err)
	}
	if list, err := c.Skills(); err != nil || len(list) != 1 || list[0].Name.String() != "adder" {
		t.Errorf("the skills are %v, %v", list, err)
	}
	if text, err := c.Skill("adder"); err != nil || text.String() != code {
		t.Errorf("the skill reads %q, %v", text, err)
	}
	if _, err := c.Skill("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown skill: %v", err)
	}
	if text, err := c.Docstring("/skills/adder.js", "add"); err != nil || text.String() != "function add(a, b)\n\nAdds." {
		t.Errorf("the docstring is %q, %v", text, err)
	}
	if _, err := c.Docstring("/skills/adder.js", "sub"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "has add") {
		t.Errorf("an unknown function: %v", err)
	}
	refused, err := c.WriteFile(t.Context(), "/skills/bad.js", "// Mails to "+anns+"\nmodule.exports = 1;\n")
	if err != nil || len(refused.Refused) != 1 {
		t.Errorf("a skill with a personal value: %+v, %v", refused, err)
	}
	prompt, err := c.SystemPrompt(pii.NewRaw("adds two numbers for " + anns))
	if err != nil || !strings.Contains(prompt.String(), "/skills/adder.js") {
		t.Errorf("the prompt is %s, %v", prompt, err)
	}
}

func TestConversationTellsArtifacts(t *testing.T) {
	t.Parallel()
	c := newConversation(t, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		for name, data := range map[string]string{"chart.png": "\x89PNG\r\n\x1a\n\x00", "list.csv": "mail\n" + anns + "\n"} {
			if err := x.Files.WriteFile("/artifacts/"+name, []byte(data)); err != nil {
				return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: err.Error()}}
			}
		}
		return sandbox.Result{Reason: sandbox.ReasonOK}
	})
	if _, _, err := c.Execute(t.Context(), ExecuteRequest{Language: sandbox.JavaScript, Code: "x"}); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Artifacts(); err != nil || len(list) != 2 {
		t.Errorf("the artifacts are %v, %v", list, err)
	}
	if f, err := c.Artifact(t.Context(), "list.csv", 1<<20); err != nil || strings.Contains(f.Text.String(), anns) || f.Data != nil {
		t.Errorf("the text reads %q, %v", f.Text, err)
	}
	if f, err := c.Artifact(t.Context(), "chart.png", 1<<20); err != nil || len(f.Data) != 9 || f.MIME != "image/png" {
		t.Errorf("the picture is %+v, %v", f, err)
	}
	if _, err := c.Artifact(t.Context(), "chart.png", 4); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("a large picture: %v", err)
	}
	for _, name := range []string{"../list.csv", "none", ""} {
		if _, err := c.Artifact(t.Context(), name, 1<<20); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	session, leave, err := c.enter()
	if err != nil {
		t.Fatal(err)
	}
	session.vault.MarkUnseen()
	leave()
	if _, err := c.Artifact(t.Context(), "chart.png", 1<<20); !errors.Is(err, ErrUntold) {
		t.Errorf("a picture of a session that may have seen values: %v", err)
	}
}

func TestExecutionAsksItsCaller(t *testing.T) {
	t.Parallel()
	approvals := NewApprovals(50 * time.Millisecond)
	request := bridge.ApprovalRequest{Execution: "exe_1", Tool: "a__b"}
	if err := approvals.Approve(t.Context(), request); !errors.Is(err, bridge.ErrNobodyToAsk) {
		t.Errorf("without a caller: %v", err)
	}
	asked := 0
	done := approvals.openExecution("exe_1", func(ctx context.Context, r bridge.ApprovalRequest) error {
		if asked++; asked > 1 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return fmt.Errorf("asked of %s: %w", r.Tool, bridge.ErrDenied)
	})
	if err := approvals.Approve(t.Context(), request); !errors.Is(err, bridge.ErrDenied) {
		t.Errorf("a refusal: %v", err)
	}
	if err := approvals.Approve(t.Context(), request); !errors.Is(err, errUnanswered) {
		t.Errorf("no answer: %v", err)
	}
	done()
	if err := approvals.Approve(t.Context(), request); !errors.Is(err, bridge.ErrNobodyToAsk) {
		t.Errorf("after the script's end: %v", err)
	}
}

func TestExecutionIsFollowed(t *testing.T) {
	t.Parallel()
	c := newConversation(t, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		x.Output(sandbox.Stdout, pii.NewRaw("to "+anns+"\n"))
		return sandbox.Result{Reason: sandbox.ReasonOK}
	})
	var seen []string
	_, _, err := c.Execute(t.Context(), ExecuteRequest{Language: sandbox.JavaScript, Code: "x", Follow: func(kind EventType, data EventData) {
		seen = append(seen, string(kind)+data.Text.String())
	}})
	all := strings.Join(seen, "|")
	if err != nil || strings.Contains(all, anns) || !strings.Contains(all, "execution.outputto [EMAIL_1_") {
		t.Errorf("followed %s, %v", all, err)
	}
}

// What a script copies out of another session's data, which no detector saw, is not
// told either.
func TestDataThatNobodySawIsNotToldByWayOfACopy(t *testing.T) {
	t.Parallel()
	data := []byte("\x89PNG\r\n\x1a\n\x00" + anns)
	s := newTestService(t, silent{}, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		if from, err := x.Files.ReadFile("/artifacts/first.png", 1<<10); err == nil {
			err = x.Files.WriteFile("/artifacts/copy.png", from)
			return sandbox.Result{Reason: sandbox.ReasonOK, Error: failure(err)}
		}
		return sandbox.Result{Reason: sandbox.ReasonOK, Error: failure(x.Files.WriteFile("/artifacts/first.png", data))}
	})
	first, second := s.Converse("ann"), s.Converse("ann")
	session, leave, err := first.enter()
	if err != nil {
		t.Fatal(err)
	}
	session.vault.MarkUnseen()
	leave()
	for _, c := range []*Conversation{first, second} {
		if out, _, err := c.Execute(t.Context(), ExecuteRequest{Language: sandbox.JavaScript, Code: "x"}); err != nil || out.Error != nil {
			t.Fatalf("%+v, %v", out.Error, err)
		}
	}
	for _, name := range []string{"first.png", "copy.png"} {
		if f, err := second.Artifact(t.Context(), name, 1<<20); !errors.Is(err, ErrUntold) {
			t.Errorf("%s is told as %q, %v", name, f.Data, err)
		}
	}
}

func failure(err error) *sandbox.ScriptError {
	if err == nil {
		return nil
	}
	return &sandbox.ScriptError{Name: err.Error()}
}
