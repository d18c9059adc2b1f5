package main

import (
	"bufio"
	"fmt"
	"os"
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
