package orchestrator

import (
	"crypto/sha256"
	"time"

	"airlock/ident"
	"airlock/pii"
)

// Status is where a task stands.
type Status string

// The states of a task. The last three are final.
const (
	StatusQueued  Status = "queued"
	StatusRunning Status = "running"
	// StatusAwaitingApproval is running with a call that waits for its user.
	StatusAwaitingApproval Status = "awaiting_approval"
	StatusCompleted        Status = "completed"
	StatusFailed           Status = "failed"
	StatusCancelled        Status = "cancelled"
)

// Final reports whether a task in this state will not change any more.
func (s Status) Final() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusCancelled
}

// TaskRequest is what a user asks for.
type TaskRequest struct {
	User ident.User
	// Session continues a conversation; empty starts a new one.
	Session ident.Session
	// Text is the task in the user's own words.
	Text pii.Raw
	// History is what was said before, in a conversation that no session holds. It is
	// not looked at when Session is set.
	History []Said
	// Files are put into the session's workspace before the agent begins.
	Files []Upload
	// Repeat, if it has a key, lets a request be sent again: it begins no other task.
	Repeat Repeat
	// Model is one of the service's models; empty takes the first.
	Model string
	// MaxTurns bounds how often the model is asked; 0 takes the service's limit,
	// which is the upper bound too.
	MaxTurns int
	// Timeout bounds the whole task; 0 takes the service's limit, likewise.
	Timeout time.Duration
}

// Repeat is what a client says of a request so that sending it twice does no harm.
type Repeat struct {
	// Key is the client's own name for the request, unique among those of its user.
	Key string
	// Digest is of the whole request: another one under the same key is a mistake.
	Digest [sha256.Size]byte
}

// Said is one message of an earlier conversation.
type Said struct {
	// ByAgent is set for the agent's messages, not for the user's.
	ByAgent bool
	Text    pii.Raw
}

// Task is a snapshot of one task. Its texts are tokenized; Vault turns them back.
type Task struct {
	ID      ident.Task
	Session ident.Session
	User    ident.User
	Status  Status
	// Text is the task in its user's words; empty until it runs.
	Text pii.Tokenized `json:"-"` // like all texts: see record.go
	// Title is the user's name for the session, if it has one.
	Title pii.Tokenized `json:"-"`
	// Message is the agent's final answer.
	Message pii.Tokenized `json:"-"`
	// Output is the JSON of what the last script returned; empty if none did.
	Output pii.Tokenized `json:"-"`
	// Logs are the lines that the scripts printed, the newest last, bounded.
	Logs      []pii.Tokenized `json:"-"`
	Artifacts []Artifact
	// Approvals are the calls that wait for the user, the oldest first.
	Approvals []Approval `json:"-"`
	Usage     Usage
	// Protected counts the personal values that the session knows, once the task has
	// begun.
	Protected []Protected
	// Problem says why the task failed; nil otherwise.
	Problem *Problem

	Created, Finished time.Time
	// Vault belongs to the task's session.
	Vault *pii.Vault `json:"-"`
}

// Artifact is a file that a script left for the user.
type Artifact struct {
	// Name is its path below /artifacts. Scripts choose it, so it is tokenized.
	Name pii.Tokenized `json:"-"`
	Size int64
	MIME string
}

// Protected counts the personal values of one type.
type Protected struct {
	Type pii.Type `json:"type"`
	// Count is how many the session knew at the task's end, or knows now. New are
	// those of them that it met in this task.
	Count int `json:"count"`
	New   int `json:"new"`
}

// Usage is what a task has used.
type Usage struct {
	Turns, Executions int
	// ToolCalls counts the calls of tools by scripts.
	ToolCalls                               int
	InputTokens, OutputTokens, CachedTokens int
	// CostUSD is by the configured prices, in US dollars; 0 without any.
	CostUSD float64
	// Model is the one that was asked last; empty where the service lists none.
	Model string
}

// Problem is a failure in words for the user. It holds no personal data.
type Problem struct {
	Code, Message, Hint string
}
