package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// formPart is the field of a form whose parts are files.
const formPart = "files"

// maxFormParts bounds the parts of a form: more files than a task takes, and each
// other field once.
const maxFormParts = 120

// isForm reports whether a body comes as multipart/form-data, which only POST /task
// takes: it is what a page can send without asking, so that the Origin alone guards it.
func isForm(c *fiber.Ctx) bool {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	return err == nil && kind == fiber.MIMEMultipartForm && c.Method() == fiber.MethodPost && strings.TrimSuffix(c.Path(), "/") == "/task"
}

// decodeForm reads a task from a form, part by part: nothing of it is written to disk.
// It refuses what decode refuses.
func decodeForm(c *fiber.Ctx, into *taskBody) error {
	_, params, _ := mime.ParseMediaType(c.Get(fiber.HeaderContentType)) // isForm has
	parts := multipart.NewReader(bytes.NewReader(c.BodyRaw()), params["boundary"])
	seen := []string{}
	for range maxFormParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badBody("the body is not a valid form")
		}
		name := part.FormName()
		if name != formPart && slices.Contains(seen, name) {
			return badBody(fmt.Sprintf("field %q is there twice", brief(name)))
		}
		seen = append(seen, name)
		if err := into.take(name, part); err != nil {
			return err
		}
	}
	return problem{fiber.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the form has more than %d parts", maxFormParts), "pack files into fewer"}
}

// take reads one part of a form.
func (b *taskBody) take(name string, part *multipart.Part) error {
	switch encoding := strings.ToLower(part.Header.Get("Content-Transfer-Encoding")); encoding {
	case "", "7bit", "8bit", "binary":
	default:
		return badBody(fmt.Sprintf("a part of the form is in the transfer encoding %q; send its bytes as they are", brief(encoding)))
	}
	content, err := io.ReadAll(part) // at most the body, which is bounded
	if err != nil {
		return badBody("the body is not a valid form")
	}
	switch name {
	case formPart:
		b.Files = append(b.Files, taskFile{Name: fileName(part), Content: content})
	case "userId":
		b.UserID = string(content)
	case "task":
		b.Task = string(content)
	case "sessionId":
		b.SessionID = string(content)
	case "model":
		b.Model = string(content)
	case "maxTurns":
		b.MaxTurns, err = strconv.Atoi(string(content))
	case "timeoutMs":
		b.TimeoutMs, err = strconv.ParseInt(string(content), 10, 64)
	default:
		return badBody(fmt.Sprintf("unknown field %q", brief(name)))
	}
	if err != nil {
		return badBody(fmt.Sprintf("field %q must be a whole number", name))
	}
	return nil
}

// fileName is the whole path that a part names: multipart's own FileName keeps its
// last element only. What is wrong with it is told as for files in JSON.
func fileName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}
