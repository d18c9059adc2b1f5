package oauth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// checked is an address that may be fetched or shown: https, or http to this
// machine where the MCP server itself is on it.
func checked(what, address string, local bool) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%s is no address", what)
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%s has parts that it must not have", what)
	case u.Scheme == "https", u.Scheme == "http" && local && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%s is not https", what)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// place is an address as errors show it.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + port)
}

// canonical is the identifier of a server that does not name one itself: its
// address without query and fragment.
func canonical(u *url.URL) string {
	c := url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: u.Path}
	return strings.TrimSuffix(c.String(), "/")
}

var errForeignResource = errors.New("its metadata is that of another server; do not sign in to it")

// binds checks that the resource that metadata names is the server that was
// addressed, or stands above it on the same origin. A server that named another
// one would be given tokens for that one (RFC 9728, section 3.3).
func binds(resource string, server *url.URL) error {
	r, err := url.Parse(resource)
	if err != nil || r.Host == "" || r.Fragment != "" || r.User != nil || r.RawQuery != "" || origin(r) != origin(server) {
		return errForeignResource
	}
	above := strings.TrimSuffix(r.Path, "/")
	if server.Path != above && !strings.HasPrefix(server.Path, above+"/") {
		return errForeignResource
	}
	return nil
}

// wellKnown puts a well-known segment between host and path (RFC 8615, as
// RFC 8414 and RFC 9728 use it).
func wellKnown(u *url.URL, name string) string {
	w := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/.well-known/" + name + strings.TrimSuffix(u.Path, "/")}
	return w.String()
}
