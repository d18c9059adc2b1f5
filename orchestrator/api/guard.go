package api

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// guard refuses what a page in somebody's browser could send to a server on the
// same machine: a request under a foreign name (DNS rebinding), of a foreign
// origin, or with a body that a form can produce.
func (s *Server) guard(c *fiber.Ctx) error {
	if ambiguous(c) {
		c.Set(fiber.HeaderConnection, "close") // what follows may be part of this request
		return problem{Status: fiber.StatusBadRequest, Code: "ambiguous_request",
			Message: "a header that decides how the request is read is there twice, or beside one it excludes",
			Hint:    "send Host, Origin, Content-Type and Content-Length or Transfer-Encoding once each"}
	}
	if !plainTarget(c.OriginalURL()) {
		return problem{Status: fiber.StatusBadRequest, Code: "ambiguous_request",
			Message: "the address of the request is not a path", Hint: "begin the request's target with one slash, as in GET /tasks HTTP/1.1"}
	}
	if !s.origins.KnownHost(c.Get(fiber.HeaderHost)) || !s.origins.KnownHost(string(c.Request().URI().Host())) {
		return problem{Status: fiber.StatusMisdirectedRequest, Code: "unknown_host",
			Message: "this server does not answer to that Host", Hint: "use localhost, or add the name to ALLOWED_HOSTS"}
	}
	if origin := c.Get(fiber.HeaderOrigin); origin != "" && !s.origins.KnownOrigin(origin) {
		return problem{Status: fiber.StatusForbidden, Code: "foreign_origin",
			Message: "pages of that origin may not call this server", Hint: "add the origin to ALLOWED_ORIGINS if you trust its pages"}
	}
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" {
		return problem{Status: fiber.StatusUnsupportedMediaType, Code: "unsupported_encoding",
			Message: "compressed bodies are not taken", Hint: "send the body as it is, without Content-Encoding"}
	}
	if len(c.Request().Header.ContentType()) > 0 || len(c.BodyRaw()) > 0 {
		if !jsonBody(c.Get(fiber.HeaderContentType)) && !isForm(c) {
			return problem{Status: fiber.StatusUnsupportedMediaType, Code: "unsupported_media_type",
				Message: "the body must be JSON", Hint: "send the header Content-Type: application/json; POST /task takes multipart/form-data too"}
		}
	}
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	if c.Get(fiber.HeaderOrigin) == "" {
		c.Set("Cross-Origin-Resource-Policy", "same-origin")
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
	return c.Next()
}

// single are the headers of which a request has one at the most.
var single = []string{"host", "origin", "content-type", "content-length", "content-encoding", "transfer-encoding"}

// ambiguous reports a request that a proxy in front could read differently.
func ambiguous(c *fiber.Ctx) bool {
	count := map[string]int{}
	for line := range bytes.Lines(c.Request().Header.RawHeaders()) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		count[strings.ToLower(string(bytes.TrimSpace(name)))]++
	}
	twice := slices.ContainsFunc(single, func(name string) bool { return count[name] > 1 })
	return twice || count["content-length"] > 0 && count["transfer-encoding"] > 0
}

// plainTarget reports whether a request's target is a path, which all readers find the
// same route by. In one with a host, such as "execute?x://localhost:3000/tasks", the one
// that routes it here and the one that passes it on see different paths.
func plainTarget(target string) bool {
	return strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//")
}

func jsonBody(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == fiber.MIMEApplicationJSON
}
