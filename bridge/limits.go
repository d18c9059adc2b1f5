package bridge

import (
	"fmt"
	"time"
)

// Limits bound what one execution may do. Every field must be positive: zero
// never means unlimited.
type Limits struct {
	// Calls is how many calls of tools one execution may make.
	Calls int
	// Requests bounds requests of any kind, calls among them.
	Requests int
	// Concurrent is how many requests are worked on at once; more wait in the
	// order of their arrival.
	Concurrent int
	// ArgumentBytes bounds the JSON of a call's arguments, with tokens in it and
	// with the values in their place.
	ArgumentBytes int64
	// ResultBytes bounds the JSON of a tool's result. A larger one is refused, not cut.
	ResultBytes int64
	// CallTime is how long a tool may take, not counting approval.
	CallTime time.Duration
	// TransferTime is how long a body may take to arrive, and an answer to be taken.
	TransferTime time.Duration
}

// DefaultLimits are the limits used where an operator names none.
func DefaultLimits() Limits {
	return Limits{
		Calls:         1000,
		Requests:      10_000,
		Concurrent:    8,
		ArgumentBytes: 8 << 20,
		ResultBytes:   8 << 20,
		CallTime:      60 * time.Second,
		TransferTime:  10 * time.Second,
	}
}

// Validate reports the first field that is not positive.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Calls", int64(l.Calls)}, {"Requests", int64(l.Requests)}, {"Concurrent", int64(l.Concurrent)},
		{"ArgumentBytes", l.ArgumentBytes}, {"ResultBytes", l.ResultBytes},
		{"CallTime", int64(l.CallTime)}, {"TransferTime", int64(l.TransferTime)},
	} {
		if f.value <= 0 {
			return fmt.Errorf("limit %s is %d; it must be positive", f.name, f.value)
		}
	}
	return nil
}
