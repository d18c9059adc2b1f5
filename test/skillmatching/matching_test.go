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
	var all counted
	lists := []string{"first", "second", "third"}
	ran := 0
	for _, list := range lists {
		t.Run(list, func(t *testing.T) {
			c := measure(t, store, list+".txt")
			t.Logf("%d of %d tasks ran the skill that is meant, %d of %d ran a wrong one", c.right, c.meant, c.wrong, c.tasks)
			all.meant, all.right, all.wrong, all.tasks = all.meant+c.meant, all.right+c.right, all.wrong+c.wrong, all.tasks+c.tasks
			ran++
		})
	}
	if ran < len(lists) {
		return // one list alone, to be looked at
	}
	if float64(all.right) < minRight*float64(all.meant) {
		t.Errorf("%d of %d tasks ran the skill that is meant, less than %.0f %%", all.right, all.meant, minRight*100)
	}
	if float64(all.wrong) > maxWrong*float64(all.tasks) {
		t.Errorf("%d of %d tasks ran a wrong skill, more than %.0f %%", all.wrong, all.tasks, maxWrong*100)
	}
}

// counted is how a list of tasks did.
type counted struct{ meant, right, wrong, tasks int }

func measure(t *testing.T, store *skills.Store, file string) (c counted) {
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
		c.tasks++
		ran, told := run(t, store, task)
		if want != "-" && want[0] != '?' {
			c.meant++
		}
		switch {
		case ran == want:
			c.right++
		case ran != "":
			c.wrong++
			t.Logf("%q ran %s, want %s", task, ran, want)
		case want != "-" && want[0] != '?':
			t.Logf("%q ran nothing, want %s: %s", task, want, told)
		}
	}
	return c
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
