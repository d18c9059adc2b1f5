package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"airlock/pii"
)

// Upload is a file that comes with a task.
type Upload struct {
	// Name is its path below /workspace, as the user wrote it.
	Name string
	Data []byte
}

// maxUploads bounds the files of one task.
const maxUploads = 100

// checkUploads refuses files that cannot be taken, before a task is.
func checkUploads(files []Upload) error {
	if len(files) > maxUploads {
		return fmt.Errorf("%w: %d files come with the task, the limit is %d; pack them into fewer", ErrTooLarge, len(files), maxUploads)
	}
	seen := map[string]bool{}
	for i, f := range files {
		switch {
		case !fs.ValidPath(f.Name) || f.Name == "." || strings.HasPrefix(f.Name, "."):
			return fmt.Errorf("%w: file %d has no name that is a path such as data/sales.csv", ErrInvalid, i+1)
		case seen[f.Name]:
			return fmt.Errorf("%w: file %d has the name of an earlier one", ErrInvalid, i+1)
		}
		seen[f.Name] = true
	}
	return nil
}

// takeUploads writes the task's files into the workspace and gives the note that
// tells the model of them. In a sealed session text is tokenized, like everything
// that scripts see; of other data it is noted that nobody looked into it.
func (a *agent) takeUploads() (pii.Tokenized, error) {
	var lines []pii.Tokenized
	for _, f := range a.task.request.Files {
		name, err := a.vault.Tokenize(pii.NewRaw(f.Name), pii.OriginUser)
		if err != nil {
			return noText, fmt.Errorf("tokenize a file's name: %w", err)
		}
		path, data := name.String(), f.Data
		switch {
		case a.vault.Mode() == pii.Open:
			path = f.Name
		case isText(f.Data):
			text, err := a.vault.Tokenize(pii.NewRaw(string(f.Data)), pii.OriginUser)
			if err != nil {
				return noText, fmt.Errorf("tokenize a file that came with the task: %w", err)
			}
			data = []byte(text.String())
		default:
			a.vault.MarkUnseen()
		}
		if err := a.task.session.files.WriteFile("/workspace/"+path, data); err != nil {
			return noText, fmt.Errorf("%w: %w", errUpload, err)
		}
		lines = append(lines, pii.Join(pii.Static("\n- /workspace/"), pii.OneLine(name)))
	}
	if len(lines) == 0 {
		return noText, nil
	}
	if err := a.keepFiles(context.Background(), a.task.session); err != nil {
		return noText, err
	}
	return pii.Join(append([]pii.Tokenized{pii.Static("Files that came with the task:")}, lines...)...), nil
}

// errUpload ends a task whose files do not go into its workspace.
var errUpload = errors.New("a file that came with the task cannot be kept")

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }
