package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
)

// decode reads the body into a struct. It names an unknown or ill-typed field,
// and never repeats a value.
func decode(c *fiber.Ctx, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(c.Body()))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return badBody("there is more after the JSON object")
		}
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return badBody(fmt.Sprintf("the body is not valid JSON: error at byte %d", syntax.Offset))
	case errors.As(err, &kind) && kind.Field == "":
		return badBody("the body must be a JSON object")
	case errors.As(err, &kind):
		return badBody(fmt.Sprintf("field %q must be a %s", kind.Field, jsonName(kind.Type)))
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return badBody(strings.TrimPrefix(err.Error(), "json: "))
	case errors.Is(err, io.EOF):
		return badBody("the body is empty")
	default:
		return badBody("the body is not valid JSON: it ends too early")
	}
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
		return "number"
	}
}

func parseUser(text string) (ident.User, error) {
	user, err := ident.ParseUser(text)
	if err != nil {
		return "", problem{fiber.StatusBadRequest, "invalid_user_id", err.Error(), "an id of your own user base, or an e-mail address, will do"}
	}
	return user, nil
}

// queryUser reads the userId of calls without a body; on a server of one user it
// may be left out.
func queryUser(c *fiber.Ctx) (ident.User, error) {
	return parseUser(c.Query("userId", "local"))
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
