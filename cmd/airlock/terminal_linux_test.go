package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal gives both ends of a new terminal: the one of the person and the
// one of the program.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

func TestWhatIsTypedBeforeAQuestionAnswersNothing(t *testing.T) {
	t.Parallel()
	person, program := pseudoTerminal(t)
	var a asker
	a.open(program)
	typed, shown := bufio.NewWriter(person), bufio.NewReader(person)
	for _, tc := range []struct{ before, after, want string }{
		{"y\ny\n", "n\n", "deny"},
		{"n\n", "y\n", "approve"},
		{"y\nt\n", "no\n", "deny"},
	} {
		fmt.Fprint(typed, tc.before)
		if err := typed.Flush(); err != nil {
			t.Fatal(err)
		}
		// The terminal shows what is typed when it has taken it.
		waitShown(t, shown, strings.TrimSpace(tc.before))
		decided := make(chan map[string]any, 1)
		go func() {
			decision, err := a.ask(t.Context(), &approval{Tool: "mail__send"})
			if err != nil {
				t.Error(err)
			}
			decided <- decision
		}()
		waitShown(t, shown, "n = no: ")
		fmt.Fprint(typed, tc.after)
		if err := typed.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := (<-decided)["decision"]; got != tc.want {
			t.Errorf("typed %q before and %q after: %v, want %s", tc.before, tc.after, got, tc.want)
		}
	}
}

// Somebody at a terminal approves the calls of one tool for the rest of the task.
func TestATaskAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	catalog := `{"schemaVersion": 1, "servers": {"database": {"transport": "builtin", "tools": {"approval": {"query": "required"}}}}}`
	if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(catalog), 0o600); err != nil {
		t.Fatal(err)
	}
	person, program := pseudoTerminal(t)
	task := exec.CommandContext(t.Context(), "airlock", "task", "Analyze the latest sales data and create a summary report")
	task.Dir, task.Env = dir, append(os.Environ(), "SANDBOX_BACKEND=wasm")
	task.ExtraFiles = []*os.File{program}
	task.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	var out strings.Builder
	task.Stdout = &out
	if err := errors.Join(task.Start(), program.Close()); err != nil { // so that reading ends with the task
		t.Fatal(err)
	}
	shown := bufio.NewReader(person)
	waitShown(t, shown, "The task wants to call database__query")
	for _, answer := range []string{"perhaps\n", "t\n"} {
		waitShown(t, shown, "Allow? y = yes, t = yes, also later calls of this tool in this task, n = no: ")
		if _, err := person.WriteString(answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := task.Wait(); err != nil || !strings.Contains(out.String(), "#") {
		t.Errorf("the task ended with %v and printed %q", err, out.String())
	}
}

// waitShown reads until the terminal has shown text.
func waitShown(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for got := ""; !strings.Contains(strings.ReplaceAll(got, "\r\n", "\n"), text); {
		c, err := r.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		got += string(c)
	}
}
