package wire

// Setup tells a fresh worker what it is for.
type Setup struct {
	CacheDir string `json:"cacheDir,omitempty"`
	// TimeZone is the name of the scripts' zone; UTC if empty.
	TimeZone string `json:"timeZone,omitempty"`
}

// Report is what a worker says when it is ready.
type Report struct {
	Error string            `json:"error,omitempty"`
	Locks map[string]string `json:"locks,omitempty"` // protection -> "active" or why not
}

// Job is one execution. Sizes are in bytes.
type Job struct {
	Language        string `json:"language"`
	Name            string `json:"name"`
	MemoryBytes     uint64 `json:"memoryBytes"`
	OutputBytes     int64  `json:"outputBytes"`
	OutputKillBytes int64  `json:"outputKillBytes"`
	ResultBytes     int    `json:"resultBytes"`
}

// The ends of an execution as a worker sees them.
const (
	EndOK      = "ok"
	EndError   = "error"
	EndMemory  = "memory"
	EndOutput  = "output"
	EndStopped = "stopped" // a Stop frame came
)

// Outcome is how an execution ended.
type Outcome struct {
	End      string   `json:"end"`
	HasValue bool     `json:"hasValue,omitempty"`
	Error    *Error   `json:"error,omitempty"`
	Dropped  [2]int64 `json:"dropped"` // bytes of stdout and stderr not sent
}

// Error is what a script threw or what stopped it.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// The streams of an Output frame.
const (
	Stdout = 0
	Stderr = 1
)
