package skills

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestAgentSkillsFormat holds the store to the Agent Skills format, one file for
// each rule: what is well-formed is saved, the rest refused for the reason that the
// file names. In the files \r stands for a carriage return and \x00 for a NUL.
func TestAgentSkillsFormat(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/format/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, want, _ := strings.Cut(string(archive.Comment), "\nwant: ")
			want = strings.TrimSpace(want)
			s := testStore(t)
			dir := checkout(t, s, me, "s")
			for _, f := range archive.Files {
				put(t, dir, f.Name, strings.NewReplacer(`\r`, "\r", `\x00`, "\x00").Replace(string(f.Data)))
			}
			r := commitAll(t, s, me, "s")
			switch {
			case want == "ok" && (len(r.Saved) != 1 || len(r.Refused) > 0):
				t.Errorf("refused: %+v", r.Refused)
			case want != "ok" && (len(r.Refused) != 1 || r.Refused[0].Reason != want):
				t.Errorf("got %+v\nwant %s", r, want)
			}
		})
	}
}
