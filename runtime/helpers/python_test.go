package helpers

import (
	"os/exec"
	"testing"
)

// TestPythonHelpers runs the Python helpers' own tests, which need nothing but the
// standard library.
func TestPythonHelpers(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the Python helpers are not tested")
	}
	command := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	command.Dir = "python"
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
