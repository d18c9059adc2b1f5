// Package skillmatching measures how well tasks as people word them find the skill
// of the library that is meant.
package skillmatching

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/orchestrator/llm/skillmatch"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/skills"
)

// Of the tasks that a skill is meant for at least minRight run it, and of all tasks
// at most maxWrong run another one, or one where none is meant. The third list is
// held out: what it gives alone is what new wordings can expect.
const (
	minRight = 0.90
	maxWrong = 0.01
)

func TestTasksFindTheirSkills(t *testing.T) {
	t.Parallel()
	store, err := skills.New(skills.Options{Library: skills.Library(), UsersDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	all, wrongOfAll, meantOfAll, rightOfAll := 0, 0, 0, 0
	for _, file := range []string{"first.txt", "second.txt", "third.txt"} {
		if only := os.Getenv("SKILLMATCHING_FILE"); only != "" && only != file {
			continue // for tuning, without a look at the others
		}
		meant, right, wrong, tasks := measure(t, store, file)
		t.Logf("%s: %d of %d tasks ran the skill that is meant (%.0f %%), %d of %d ran a wrong one", file, right, meant, 100*float64(right)/float64(meant), wrong, tasks)
		all, wrongOfAll, meantOfAll, rightOfAll = all+tasks, wrongOfAll+wrong, meantOfAll+meant, rightOfAll+right
	}
	if float64(rightOfAll) < minRight*float64(meantOfAll) {
		t.Errorf("%d of %d tasks ran the skill that is meant, less than %.0f %%", rightOfAll, meantOfAll, minRight*100)
	}
	if float64(wrongOfAll) > maxWrong*float64(all) {
		t.Errorf("%d of %d tasks ran a wrong skill, more than %.0f %%", wrongOfAll, all, maxWrong*100)
	}
}

func measure(t *testing.T, store *skills.Store, file string) (meant, right, wrong, tasks int) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, task, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		tasks++
		ran, told := run(t, store, task)
		if want != "-" && want[0] != '?' {
			meant++
		}
		switch {
		case ran == want:
			right++
		case ran != "":
			wrong++
			t.Logf("%q ran %s, want %s", task, ran, want)
		case want != "-" && want[0] != '?':
			t.Logf("%q ran nothing, want %s: %s", task, want, told)
		}
	}
	return meant, right, wrong, tasks
}

// run lets skillmatch choose, and returns the skill that it would run, or else what
// it says.
func run(t *testing.T, store *skills.Store, task string) (ran, told string) {
	t.Helper()
	vault := newVault(t)
	text, err := vault.Tokenize(pii.NewRaw(task), pii.OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	matches, err := store.Search("tester", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text}}}}}
	for _, m := range matches {
		name, err := vault.Tokenize(m.Name, pii.OriginUser)
		if err != nil {
			t.Fatal(err)
		}
		r.Skills = append(r.Skills, llm.Skill{Path: m.Path, Name: name, Language: m.Language, Confidence: m.Confidence, Missing: m.Missing})
	}
	provider, err := skillmatch.New(skillmatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	answer := llmtest.Collect(provider.Stream(t.Context(), r))
	if len(answer.Calls) == 0 {
		return "", strings.ReplaceAll(answer.Text, "\n", " ")
	}
	var arguments struct{ Code string }
	if err := json.Unmarshal([]byte(answer.Calls[0].Arguments), &arguments); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(arguments.Code, "/skills/library/")
	ran, _, _ = strings.Cut(rest, "/")
	return ran, ""
}

func newVault(t *testing.T) *pii.Vault {
	t.Helper()
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := pii.NewVault(pii.VaultOptions{Detector: detector, Nonce: "k7q2f"})
	if err != nil {
		t.Fatal(err)
	}
	return vault
}
