package origins

import "testing"

func TestPolicy(t *testing.T) {
	t.Parallel()
	p := Policy{Hosts: []string{"air.example.com"}, Port: "3000", Origins: []string{"https://app.example.com"}}
	for host, want := range map[string]bool{
		"localhost:3000": true, "LOCALHOST:3000": true, "127.0.0.1:3000": true, "[::1]:3000": true, "air.example.com": true,
		"localhost": false, "localhost:3001": false, "evil.example.com:3000": false, "air.example.com:3000": false, "": false, "127.0.0.1.evil.com:3000": false,
	} {
		if got := p.KnownHost(host); got != want {
			t.Errorf("host %q is known: %v", host, got)
		}
	}
	for origin, want := range map[string]bool{
		"http://localhost:3000": true, "https://app.example.com": true, "https://air.example.com": true,
		"null": false, "http://localhost:5173": false, "file://localhost:3000": false, "https://app.example.com.evil.com": false, "://": false,
	} {
		if got := p.KnownOrigin(origin); got != want {
			t.Errorf("origin %q is known: %v", origin, got)
		}
	}
	if (Policy{Port: "80"}).KnownHost("localhost") != true {
		t.Error("a Host without a port means port 80")
	}
}
