//go:build !unix

package docker

import (
	"errors"
	"os"
)

var errLocked = errors.New("file locks need a unix system; set SANDBOX_BACKEND=wasm")

func lockFile(string) (*os.File, error) { return nil, errLocked }

func waitForLock(string) (*os.File, error) { return nil, errLocked }
