package worker

import (
	"encoding/base64"
	"errors"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/wire"
)

// fileError is an error of a file operation as the script sees it.
type fileError struct{ code, message string }

func (e *fileError) Error() string { return e.code + ": " + e.message }

// Code is the error's property code in the script.
func (e *fileError) Code() string { return e.code }

var errStopped = errors.New("the execution was stopped")

// file(operation, path, data) asks the parent and waits for it.
func (g *guest) file(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	operation, err := argument(vm, args, 0, 16)
	if err != nil {
		return 0, err
	}
	path, err := argument(vm, args, 1, 4<<10)
	if err != nil {
		return 0, err
	}
	data, err := fileData(vm, operation, args)
	if err != nil {
		return 0, err
	}
	answer, err := g.askFile(operation, path, data)
	if err != nil {
		return 0, err
	}
	if operation == "readBase64" {
		return vm.String(base64.StdEncoding.EncodeToString(answer))
	}
	return vm.String(string(answer))
}

// fileData is what a script wants written.
func fileData(vm *quickjs.VM, operation string, args []quickjs.Value) ([]byte, error) {
	switch operation {
	case "write":
		text, err := argument(vm, args, 2, wire.MaxFile)
		return []byte(text), err
	case "writeBase64":
		text, err := argument(vm, args, 2, base64.StdEncoding.EncodedLen(wire.MaxFile))
		if err != nil {
			return nil, err
		}
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, &fileError{"EINVAL", "the data is not base64"}
		}
		return data, nil
	default:
		return nil, nil
	}
}

// askFile sends one file operation; what crosses are plain bytes.
func (g *guest) askFile(operation, path string, data []byte) ([]byte, error) {
	switch operation {
	case "readBase64":
		operation = "read"
	case "writeBase64":
		operation = "write"
	}
	g.w.garbage.Add(int64(3 * len(data)))
	g.out.flush()
	g.w.lastID++
	g.fileID.Store(g.w.lastID)
	if err := g.w.conn.Send(wire.File, g.w.lastID, []byte(operation), []byte(path), data); err != nil {
		return nil, err
	}
	select {
	case f := <-g.fileAnswers:
		if code := string(f.Field(0)); code != "" {
			return nil, &fileError{code, string(f.Field(1))}
		}
		return f.Field(2), nil
	case <-g.stop:
		return nil, errStopped
	}
}
