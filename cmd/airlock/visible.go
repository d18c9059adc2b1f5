package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// visible writes a text so that a terminal shows all of it: what could move the
// cursor, hide or reorder text, or give the terminal a command is written as in JSON.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// showsTerminal reports whether what is written to w appears on a terminal.
func showsTerminal(w io.Writer) bool {
	if c, ok := w.(*checked); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
