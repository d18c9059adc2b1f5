package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read to be sent; the store's own are narrower.
const (
	maxAddedFiles = 64
	maxAddedBytes = 4 << 20
)

type skillsAdd struct {
	Path string `arg:"" type:"path" help:"The folder, file or archive."`
	whose
}

// Run saves the skill as the user's.
func (s skillsAdd) Run(ctx context.Context, c *Config, std streams) error {
	body, err := readSkill(s.Path)
	if err != nil {
		return usageError{err}
	}
	body["userId"] = s.User
	return s.with(ctx, c, std, http.MethodPost, "/skills", body, func(answer json.RawMessage) error {
		return printSaved(std, answer)
	})
}

// readSkill makes the body of POST /skills.
func readSkill(name string) (map[string]any, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	base := filepath.Base(name)
	if info.IsDir() {
		files, err := readFolder(name)
		return map[string]any{"name": base, "files": files}, err
	}
	if info.Size() > maxAddedBytes {
		return nil, fmt.Errorf("%s has %d bytes; a skill holds code and text, no data", base, info.Size())
	}
	data, err := os.ReadFile(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the skill: %w", err)
	case strings.EqualFold(filepath.Ext(name), ".zip"):
		return map[string]any{"zip": data}, nil
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s is no UTF-8 text", base)
	}
	return map[string]any{"name": base, "files": map[string]string{base: string(data)}}, nil
}

// readFolder reads the files of a skill's folder. Links are refused, as they are in
// archives.
func readFolder(dir string) (map[string]string, error) {
	files, total := map[string]string{}, 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rest, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is no plain file; a skill holds no links", rest)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		total += len(data)
		switch {
		case len(files) >= maxAddedFiles || total > maxAddedBytes:
			return errors.New("the folder holds more than a skill may; is it the right one?")
		case !utf8.Valid(data):
			return fmt.Errorf("%s is no UTF-8 text; keep other data out of a skill", rest)
		}
		files[path.Clean(filepath.ToSlash(rest))] = string(data)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the skill's folder: %w", err)
	}
	return files, nil
}
