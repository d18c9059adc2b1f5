//go:build !unix

package quickjs

import "errors"

func reserve(uint64) ([]byte, error) {
	return nil, errors.New("the wasm sandbox needs Linux, macOS or a BSD")
}

func commit([]byte) error { return nil }

func release([]byte) {}
