package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"airlock/runtime/helpers"
)

// TestTheImageHasTheSamePrelude compares the prelude that the image's build puts
// together with the one that the embedded engine gets.
func TestTheImageHasTheSamePrelude(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; the image's prelude is not compared")
	}
	made := filepath.Join(t.TempDir(), "prelude.js")
	if out, err := exec.CommandContext(t.Context(), node, "node/assemble.js", "../../helpers/js", made).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != helpers.JavaScript() {
		t.Error("it differs; node/assemble.js must do as package helpers does")
	}
}
