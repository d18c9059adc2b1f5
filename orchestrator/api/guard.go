package api

import (
	"mime"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// guard refuses what a page in somebody's browser could send to a server on the
// same machine: a request under a foreign name (DNS rebinding), of a foreign
// origin, or with a body that a form can produce.
func (s *Server) guard(c *fiber.Ctx) error {
	if !s.knownHost(c.Get(fiber.HeaderHost)) {
		return problem{Status: fiber.StatusMisdirectedRequest, Code: "unknown_host",
			Message: "this server does not answer to that Host", Hint: "use localhost, or add the name to ALLOWED_HOSTS"}
	}
	if origin := c.Get(fiber.HeaderOrigin); origin != "" && !s.knownOrigin(origin) {
		return problem{Status: fiber.StatusForbidden, Code: "foreign_origin",
			Message: "pages of that origin may not call this server", Hint: "add the origin to ALLOWED_ORIGINS if you trust its pages"}
	}
	if len(c.Request().Header.ContentType()) > 0 || len(c.Body()) > 0 {
		if !jsonBody(c.Get(fiber.HeaderContentType)) {
			return problem{Status: fiber.StatusUnsupportedMediaType, Code: "unsupported_media_type",
				Message: "the body must be JSON", Hint: "send the header Content-Type: application/json"}
		}
	}
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set(fiber.HeaderCacheControl, "no-store")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
	return c.Next()
}

func (s *Server) knownHost(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(s.opts.Hosts, host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return port == s.opts.Port && (name == "localhost" || name == "127.0.0.1" || name == "::1")
}

// knownOrigin accepts the server's own pages and those of configured origins.
func (s *Server) knownOrigin(origin string) bool {
	if slices.Contains(s.opts.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && s.knownHost(u.Host)
}

func jsonBody(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == fiber.MIMEApplicationJSON
}
