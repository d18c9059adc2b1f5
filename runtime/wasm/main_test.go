package wasm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// workerArgument makes the test program a worker.
const workerArgument = "wasm-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		if err := WorkerMain(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
