package servers

import (
	"context"
	"fmt"
	"strings"
)

// open makes the wire of an entry's transport. ctx lives as long as the server.
func (u *upstream) open(ctx context.Context, owner Caller) (wire, error) {
	if missing := u.entry.launch.missing; len(missing) > 0 {
		return nil, u.fail(doStart, ErrUpstream, fmt.Sprintf("the catalog takes values from %s, which is not set", strings.Join(missing, ", ")),
			"set it, or disable the server in catalog.json")
	}
	switch u.entry.Transport {
	case transportBuiltin:
		return u.openBuiltin(ctx)
	case transportStdio:
		return u.openStdio(owner), nil
	case transportHTTP:
		return u.openHTTP()
	default:
		return u.openSSE()
	}
}
