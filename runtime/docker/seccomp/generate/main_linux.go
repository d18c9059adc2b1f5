// Command generate makes the system-call filter of the sandbox's containers out
// of the engine's default one.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "profile.json", "file to write")
	flag.Parse()
	data, err := makeProfile()
	if err == nil {
		err = os.WriteFile(*out, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make the system-call filter:", err)
		os.Exit(1)
	}
}
