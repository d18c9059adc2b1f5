package sandbox

import (
	"errors"
	"fmt"
	"time"
)

// Limits bound one execution. Every field must be positive: zero never means
// unlimited.
type Limits struct {
	// Wall is the time from start to end, less the time its Clock stood still.
	Wall time.Duration
	// MemoryBytes bounds what the script's interpreter may hold.
	MemoryBytes int64
	// OutputBytes is how much of each stream is kept; the rest is counted and
	// dropped.
	OutputBytes int64
	// OutputKillBytes ends the execution with ReasonOutput when both streams
	// together pass it.
	OutputKillBytes int64
	// ResultBytes bounds the JSON of the returned value.
	ResultBytes int64
	// Processes bounds processes and threads where the backend has them.
	Processes int
	// CPUQuota is the time of one core that may be used in 100 ms.
	CPUQuota time.Duration
}

// DefaultLimits are the limits used where a caller names none.
func DefaultLimits() Limits {
	return Limits{
		Wall:            30 * time.Second,
		MemoryBytes:     256 << 20,
		OutputBytes:     1 << 20,
		OutputKillBytes: 16 << 20,
		ResultBytes:     8 << 20,
		Processes:       64,
		CPUQuota:        100 * time.Millisecond,
	}
}

// ErrLimits is wrapped by what Validate returns.
var ErrLimits = errors.New("limits")

// Validate reports the first field that is not positive.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"wall", int64(l.Wall)}, {"memory", l.MemoryBytes}, {"output", l.OutputBytes},
		{"output kill", l.OutputKillBytes}, {"result", l.ResultBytes},
		{"processes", int64(l.Processes)}, {"CPU quota", int64(l.CPUQuota)},
	} {
		if f.value <= 0 {
			return fmt.Errorf("%w: %s is %d; it must be positive", ErrLimits, f.name, f.value)
		}
	}
	return nil
}
