package api

import (
	"strings"
	"testing"

	"airlock/orchestrator"
	"airlock/orchestrator/auth"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/skills"
	"airlock/workspace"
)

func vaultOf(t *testing.T, mode pii.Mode) *pii.Vault {
	t.Helper()
	d, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: d, Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What users and their scripts keep holds values that no vault knows.
func TestKeptTextsAreShownByRight(t *testing.T) {
	t.Parallel()
	const value = "ann@example.org"
	for name, tc := range map[string]struct {
		path   string
		mode   pii.Mode
		text   bool
		hidden int // status without the right
	}{
		"the list of skills":             {"/skills", pii.Sealed, true, 200},
		"a skill":                        {"/skills/mail", pii.Sealed, true, 200},
		"the list of artifacts":          {"/artifacts/u", pii.Open, true, 200},
		"a text":                         {"/artifacts/u/a.txt", pii.Open, true, 200},
		"other data that scripts filled": {"/artifacts/u/a.bin", pii.Open, false, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeService{
				vault:  vaultOf(t, tc.mode),
				skills: []skills.Skill{{Name: pii.NewRaw("mail"), Description: pii.NewRaw("Writes to " + value), Scope: skills.ScopeUser}},
				file: orchestrator.ArtifactFile{
					Artifact: workspace.Artifact{Name: value + ".txt", MIME: "text/plain", Text: tc.text}, Data: []byte("of " + value),
				},
			}
			if status, _, body := start(t, f, all)("GET", tc.path, ""); status != 200 || !strings.Contains(body, value) {
				t.Errorf("with the right: %d %s", status, body)
			}
			if status, _, body := start(t, f, auth.Rights{Run: true})("GET", tc.path, ""); status != tc.hidden || strings.Contains(body, value) {
				t.Errorf("without the right: %d %s", status, body)
			}
		})
	}
}

func TestRefusedSkillsAreNamedByRight(t *testing.T) {
	t.Parallel()
	const value = "ann@example.org"
	v := newVault(t)
	f := &fakeService{execution: orchestrator.Execution{Vault: v, Refused: []orchestrator.RefusedSkill{{Name: value + ".js", Reason: "bad name " + value}}}}
	send := start(t, f, all)
	for body, shown := range map[string]bool{`{"userId":"u","code":"x"}`: false, `{"userId":"u","code":"x","detokenize":true}`: true} {
		if _, _, got := send("POST", "/execute", body); strings.Contains(got, value) != shown {
			t.Errorf("%s is answered %s", body, got)
		}
	}
}
