package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// decode reads the body into a struct. It names an unknown, repeated or ill-typed
// field, and never repeats a value. Names count as they are written: encoding/json
// folds their case and takes the last of two, and a proxy in front may have judged
// another one.
func decode(c *fiber.Ctx, into any) error {
	if err := checkNames(c.BodyRaw(), reflect.TypeOf(into).Elem(), true); err != nil {
		return err
	}
	err := json.Unmarshal(c.BodyRaw(), into)
	var kind *json.UnmarshalTypeError
	var encoding base64.CorruptInputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &encoding):
		return badBody("a file's content is not base64")
	case errors.As(err, &kind):
		return badBody(fmt.Sprintf("field %q must be a %s", kind.Field, jsonName(kind.Type)))
	default:
		return badBody("the body is not valid JSON")
	}
}

// syntaxProblem tells where JSON goes wrong.
func syntaxProblem(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return badBody(fmt.Sprintf("the body is not valid JSON: error at byte %d", syntax.Offset))
	case errors.Is(err, io.EOF):
		return badBody("the body is empty, or not valid JSON: it ends too early")
	default:
		return badBody("the body is not valid JSON: it ends too early")
	}
}

// maxNamed bounds how much of a caller's own name an error repeats.
const maxNamed = 64

func brief(name string) string {
	if len(name) <= maxNamed {
		return name
	}
	return strings.ToValidUTF8(name[:maxNamed], "") + "…"
}

func badBody(message string) problem {
	return problem{fiber.StatusBadRequest, "invalid_request", message, "see docs/API.md for the fields of this call"}
}

func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "whole number"
	}
}

// maxMilliseconds is beyond every limit of time, and far from where a duration
// overflows.
const maxMilliseconds = 24 * 60 * 60 * 1000

// milliseconds reads a timeout; 0 stands for the default.
func milliseconds(field string, n int64) (time.Duration, error) {
	if n < 0 || n > maxMilliseconds {
		return 0, badBody(fmt.Sprintf("%s must be between 1 and %d", field, maxMilliseconds))
	}
	return time.Duration(n) * time.Millisecond, nil
}

// strictQuery refuses parameters that the call does not know.
func strictQuery(c *fiber.Ctx, known ...string) error {
	var unknown string
	c.Request().URI().QueryArgs().VisitAll(func(key, _ []byte) {
		if !slices.Contains(known, string(key)) && unknown == "" {
			unknown = string(key)
		}
	})
	if unknown == "" {
		return nil
	}
	return problem{fiber.StatusBadRequest, "invalid_request", fmt.Sprintf("unknown query parameter %q", unknown), "this call knows: " + strings.Join(known, ", ")}
}
