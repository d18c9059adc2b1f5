package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// open makes the wire of an entry's transport. ctx lives as long as the server.
func (u *upstream) open(ctx context.Context, owner Caller) (wire, error) {
	if err := u.missingInputs(); err != nil {
		return nil, err
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

func (u *upstream) missingInputs() error {
	missing := u.entry.launch.missing
	if len(missing) == 0 {
		return nil
	}
	return u.fail(doStart, ErrUpstream, fmt.Sprintf("the catalog takes values from %s, which is not set", strings.Join(slices.Compact(slices.Clone(missing)), ", ")),
		"set it, or disable the server in catalog.json")
}
