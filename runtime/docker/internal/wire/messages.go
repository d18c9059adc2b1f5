package wire

import "encoding/json"

// Job is the payload of Run.
type Job struct {
	ID string `json:"id"`
	// Nonce comes back with the outcome; a script never sees it.
	Nonce    string `json:"nonce"`
	Language string `json:"language"`
	// Code is the script, or what of it did not come in parts before.
	Code   string `json:"code"`
	Name   string `json:"name"`
	Token  string `json:"token"`
	Limits Limits `json:"limits"`
	// Socket is the path of the bridge's socket in the container.
	Socket string `json:"socket"`
}

// Limits bound an execution within the container. The host keeps the time, which
// may stand still; WallMs is only told to the script's helpers.
type Limits struct {
	WallMs          int64 `json:"wallMs"`
	OutputBytes     int64 `json:"outputBytes"`
	OutputKillBytes int64 `json:"outputKillBytes"`
	ResultBytes     int64 `json:"resultBytes"`
	MemoryBytes     int64 `json:"memoryBytes"`
}

// Order is the payload of Cancel.
type Order struct {
	ID string `json:"id"`
}

// Greeting is the payload of Hello.
type Greeting struct {
	Version   int      `json:"version"`
	Languages []string `json:"languages"`
}

// Version is the protocol's version; a supervisor of another one is refused.
const Version = 1

// Outcome is the payload of Done.
type Outcome struct {
	ID     string `json:"id"`
	Nonce  string `json:"nonce"`
	Reason string `json:"reason"`
	// Value is the JSON of the result, unless it came in parts before.
	Value      json.RawMessage `json:"value,omitempty"`
	Error      *Error          `json:"error"`
	DroppedOut int64           `json:"droppedOut"`
	DroppedErr int64           `json:"droppedErr"`
	// Leftovers says that something of the execution could not be removed.
	Leftovers bool `json:"leftovers"`
}

// Error is what a script threw.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Stack   string `json:"stack"`
	Code    string `json:"code"`
	Hint    string `json:"hint"`
	Tool    string `json:"tool"`
}
