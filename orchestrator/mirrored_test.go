package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm/llmtest"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// shell plays scripts of lines such as "write /workspace/a text", "remove /workspace/a"
// and "read /workspace/a", which returns what it reads.
func shell(_ context.Context, x sandbox.Execution) sandbox.Result {
	out := sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw("null")}
	fail := func(err error) sandbox.Result {
		return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw(err.Error())}}
	}
	for line := range strings.SplitSeq(x.Code, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		name, text, _ := strings.Cut(rest, " ")
		switch word {
		case "write":
			if err := x.Files.WriteFile(name, []byte(text)); err != nil {
				return fail(err)
			}
		case "remove":
			if err := x.Files.Remove(name); err != nil {
				return fail(err)
			}
		case "read":
			data, err := x.Files.ReadFile(name, 1<<20)
			if err != nil {
				return fail(err)
			}
			out.Value = pii.NewRaw(string(data))
		}
	}
	return out
}

// runIn runs a script of shell's and gives what it returns.
func runIn(t *testing.T, s *Service, id ident.Session, code string) (ident.Session, string) {
	t.Helper()
	out, err := s.Execute(t.Context(), ExecuteRequest{User: user, Session: id, Language: sandbox.JavaScript, Code: code})
	if err != nil {
		t.Fatal(err)
	}
	if out.Error != nil {
		t.Fatalf("the script failed: %s", out.Error.Message)
	}
	return out.Session, out.Value.String()
}

func artifactText(t *testing.T, s *Service, name string) string {
	t.Helper()
	file, err := s.ReadArtifact(t.Context(), user, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(file.Data)
}

func TestASessionGoesOnWithItsFilesWhereItsProcessDied(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	id, _ := runIn(t, one, "", "write /workspace/data/a.json 1\nwrite /workspace/b.json 2\nwrite /artifacts/report.txt for ann@example.org")
	runIn(t, one, id, "remove /workspace/b.json\nwrite /workspace/c.json 3")
	before := artifactText(t, one, "report.txt")
	if got := artifactText(t, two, "report.txt"); got != before || got == "" {
		t.Errorf("the other process reads the artifact as %q, want %q", got, before)
	}
	all.die("one")
	for name, want := range map[string]string{"data/a.json": "1", "c.json": "3"} {
		if _, got := runIn(t, two, id, "read /workspace/"+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	out, err := two.Execute(t.Context(), ExecuteRequest{User: user, Session: id, Language: sandbox.JavaScript, Code: "read /workspace/b.json"})
	if err != nil || out.Error == nil {
		t.Errorf("what was removed is there: %v", err)
	}
	if _, err := one.Execute(t.Context(), ExecuteRequest{User: user, Session: id, Language: sandbox.JavaScript, Code: "write /workspace/late.json 4"}); !errors.Is(err, ErrMoved) {
		t.Errorf("the one that is only slow got %v", err)
	}
	runIn(t, two, id, "write /workspace/d.json 5")
	if _, got := runIn(t, two, id, "read /workspace/d.json"); got != "5" {
		t.Errorf("what came since is %q", got)
	}
}

// TestFilesKeptBeforeTheirSessionAreNotInItsWay has a process die after it kept a
// script's files and before it kept that there is the session.
func TestFilesKeptBeforeTheirSessionAreNotInItsWay(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	id, _ := runIn(t, one, "", "write /workspace/a.json 1")
	owner := one.opts.Pseudonym.User(user)
	if err := errors.Join(one.opts.State.Kept.Delete(t.Context(), owner, liveFolder+"/"+string(id)), one.opts.State.Vaults.Delete(t.Context(), owner, string(id))); err != nil {
		t.Fatal(err)
	}
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	session, err := two.again(t.Context(), user, id)
	if err != nil {
		t.Fatal(err)
	}
	defer two.sessions.release(session)
	if _, got := runIn(t, two, id, "write /workspace/b.json 2\nread /workspace/a.json"); got != "1" {
		t.Errorf("there is %q", got)
	}
}

func TestFilesThatWereSentSurviveTheProcess(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(llmtest.Turn{Text: "Thank you."}), shell)
	done := runTask(t, one, TaskRequest{User: user, Text: pii.NewRaw("Keep this."), Files: []Upload{{Name: "sent.json", Data: []byte(`"sent"`)}}})
	all.die("one")
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	if _, got := runIn(t, two, done.Session, "read /workspace/sent.json"); got != `"sent"` {
		t.Errorf("there is %q", got)
	}
}

// aSkill is a line for shell that writes one.
func aSkill(name, result string) string {
	return "write /skills/" + name + ".js /** Returns " + result + ". */ module.exports = async () => " + result
}

func TestSkillsAreTheSameAtAllProcesses(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	names := func(s *Service) string {
		list, err := s.Skills(user)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, k := range list {
			names = append(names, k.ID)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	a, _ := runIn(t, one, "", aSkill("first", "1"))
	b, _ := runIn(t, two, "", aSkill("second", "2"))
	runIn(t, one, a, aSkill("first", "11"))
	if _, got := runIn(t, two, b, "read /skills/first.js"); !strings.Contains(got, "11") {
		t.Errorf("a script in the other process reads %q", got)
	}
	if names(one) != names(two) || names(one) != "first second" {
		t.Errorf("one has %q, two %q", names(one), names(two))
	}
	versions, err := two.SkillHistory(user, "first")
	if err != nil || len(versions) != 2 {
		t.Fatalf("the history is %v, %v", versions, err)
	}
	if err := two.RollbackSkill(user, "first", 1); err != nil {
		t.Fatal(err)
	}
	if _, text, err := one.Skill(user, "first"); err != nil || text.Len() != len("/** Returns 1. */ module.exports = async () => 1") {
		t.Errorf("after a rollback elsewhere it has %d bytes, %v", text.Len(), err)
	}
	review, err := one.ReviewSkill(user, "second")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.PromoteSkill(user, "second", review.Hash); err != nil {
		t.Fatal(err)
	}
	if names(one) != names(two) || names(two) != "first shared/second" {
		t.Errorf("after a promotion one has %q, two %q", names(one), names(two))
	}
	if err := two.DeleteSkill(user, "shared/second"); err != nil {
		t.Fatal(err)
	}
	if names(one) != "first" {
		t.Errorf("after a removal one has %q", names(one))
	}
}

// TestSkillsSavedAtOnceAreAllKept guards the index, which both processes write.
func TestSkillsSavedAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	var work sync.WaitGroup
	var last *Service
	for n := range 2 {
		s := sharing(t, url, all.join(fmt.Sprint("process", n)), llmtest.NewScript(), shell)
		last = s
		work.Go(func() {
			var id ident.Session
			for i := range 4 {
				out, err := s.Execute(t.Context(), ExecuteRequest{User: user, Session: id, Language: sandbox.JavaScript, Code: aSkill(fmt.Sprintf("skill%d_%d", n, i), fmt.Sprint(i))})
				if err != nil || len(out.Saved) != 1 {
					t.Errorf("saved %v, refused %v, %v", out.Saved, out.Refused, err)
				}
				id = out.Session
			}
		})
	}
	work.Wait()
	if list, err := last.Skills(user); err != nil || len(list) != 8 {
		t.Errorf("%d skills are kept, %v", len(list), err)
	}
}

func TestArtifactsAreTheSameAtAllProcesses(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	a, _ := runIn(t, one, "", "write /artifacts/a.txt one")
	b, _ := runIn(t, two, "", "write /artifacts/b.txt two\nwrite /artifacts/both.txt two")
	runIn(t, one, a, "write /artifacts/both.txt one")
	if _, got := runIn(t, two, b, "read /artifacts/both.txt"); got != "one" {
		t.Errorf("a script in the other process reads %q", got)
	}
	if err := two.DeleteArtifact(t.Context(), user, "a.txt"); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Service{"one": one, "two": two} {
		list, err := s.Artifacts(t.Context(), user)
		if err != nil || len(list) != 2 {
			t.Errorf("%s lists %v, %v", name, list, err)
		}
		if text := artifactText(t, s, "a.txt"); text != "" {
			t.Errorf("%s still has %q", name, text)
		}
	}
}

// TestWhatIsErasedIsGoneFromTheStoreAndFromOtherProcesses looks at each way in which
// files end.
func TestWhatIsErasedIsGoneFromTheStoreAndFromOtherProcesses(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	two := sharing(t, url, all.join("two"), llmtest.NewScript(), shell)
	first, _ := runIn(t, one, "", "write /workspace/a.json 1\nwrite /artifacts/a.txt one")
	second, _ := runIn(t, one, "", "write /workspace/a.json 2\n"+aSkill("mine", "1"))
	owner := one.opts.Pseudonym.User(user)
	kept := func() int {
		n := 0
		for _, folder := range []string{"folders", "folders/workspaces", "packs/artifacts", "packs/skills", "packs/workspaces/" + string(first), "packs/workspaces/" + string(second)} {
			names, err := one.opts.State.Kept.List(t.Context(), owner, folder)
			if err != nil {
				t.Fatal(err)
			}
			n += len(names)
		}
		return n
	}
	if artifactText(t, two, "a.txt") == "" || kept() != 8 {
		t.Fatalf("%d values are kept, want a list and a pack of each folder", kept())
	}
	if err := one.EraseSession(t.Context(), user, first); err != nil {
		t.Fatal(err)
	}
	if _, _, err := two.Skill(user, "mine"); err != nil {
		t.Fatal(err)
	}
	if kept() != 6 {
		t.Errorf("after one session %d values are kept", kept())
	}
	if err := one.EraseUser(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	if kept() != 0 {
		t.Errorf("after the user %d values are kept", kept())
	}
	if err := two.tidyFolders(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Service{"one": one, "two": two} {
		dir, err := s.opts.Workspaces.Artifacts(owner)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s has %v, %v", name, left, err)
		}
		if list, err := s.opts.Skills.List(owner, nil); err != nil || len(list) != 0 {
			t.Errorf("%s has the skills %v, %v", name, list, err)
		}
		if notes, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(dir)), "mirrored", "*", "*")); len(notes) != 0 {
			t.Errorf("%s remembers %v", name, notes)
		}
	}
	runIn(t, two, "", "write /artifacts/b.txt two")
	if list, err := one.Artifacts(t.Context(), user); err != nil || len(list) != 1 || list[0].Name != "b.txt" {
		t.Errorf("afterwards there is %v, %v", list, err)
	}
}

// TestUserErasedWhileAProcessWasAwayLeavesNothingInIt has a process end in the midst of a
// script, so that a file of its user is nowhere else, and start again when the user was
// erased, and once more when the user has come back.
func TestUserErasedWhileAProcessWasAwayLeavesNothingInIt(t *testing.T) {
	t.Parallel()
	url, all := sharedStore(t)
	one := sharing(t, url, all.join("one"), llmtest.NewScript(), shell)
	dir := t.TempDir()
	start := func(name string) (s *Service, told *ended) {
		kept, err := state.Open(t.Context(), state.Options{URL: url, Key: make([]byte, state.KeySize)})
		if err != nil {
			t.Fatal(err)
		}
		told = &ended{}
		s = newTestServiceOn(t, kept, all.join(name), dir, told, time.Minute, llmtest.NewScript(), shell)
		s.opts.Servers = told
		if err := s.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s, told
	}
	two, _ := start("two")
	owner := two.opts.Pseudonym.User(user)
	runIn(t, two, "", "write /workspace/a.txt kept\nwrite /artifacts/a.txt kept\n"+aSkill("mine", "1"))
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	all.die("two")
	for _, name := range []string{"artifacts/" + owner + "/late.txt", "skills/" + owner + "/late.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("late"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(one.AnnounceErasure(t.Context(), user), one.EraseUser(t.Context(), user)); err != nil {
		t.Fatal(err)
	}
	three, told := start("three")
	if left := filesWith(t, dir, "late"); len(left) != 0 || !slices.Equal(told.folders, []string{owner}) {
		t.Errorf("left are %v; the folders of %v were erased", left, told.folders)
	}
	if list, err := three.Artifacts(t.Context(), user); err != nil || len(list) != 0 {
		t.Errorf("there are %v, %v", list, err)
	}
	runIn(t, three, "", "write /artifacts/new.txt new")
	if err := three.Close(); err != nil {
		t.Fatal(err)
	}
	_, told = start("four")
	if left := filesWith(t, dir, "new.txt"); len(left) == 0 || len(told.folders) != 0 {
		t.Errorf("what came after the erasure is gone, also the folders of %v", told.folders)
	}
}
