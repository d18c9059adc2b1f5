// Package origins says whether an HTTP request is meant for this server and may come
// from where it comes from, so that a page in somebody's browser does not reach a
// server on the same machine: not under a foreign name (DNS rebinding), and not from
// a foreign origin. Every listener of ours asks it before anything else.
package origins

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Policy is what one listener answers to.
type Policy struct {
	// Hosts are the values of the Host header that mean this server, with their
	// ports. Loopback names are added for Port.
	Hosts []string
	Port  string
	// Origins are foreign origins whose pages may call; usually none.
	Origins []string
}

// KnownHost reports whether a Host header means this server.
func (p Policy) KnownHost(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(p.Hosts, host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return port == p.Port && (name == "localhost" || name == "127.0.0.1" || name == "::1")
}

// KnownOrigin reports whether pages of an origin may call: the server's own, and
// those of Origins.
func (p Policy) KnownOrigin(origin string) bool {
	if slices.Contains(p.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && p.KnownHost(u.Host)
}
