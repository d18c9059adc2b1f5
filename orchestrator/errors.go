package orchestrator

import "errors"

var (
	// ErrNotFound is returned for a session or task that does not exist or belongs
	// to somebody else: the two are not told apart.
	ErrNotFound = errors.New("not found")
	// ErrFull is returned when no more tasks or sessions are taken in for now.
	ErrFull = errors.New("the service is full; try again later")
	// ErrShare is returned when the user's waiting tasks hold as much as one user's may.
	ErrShare = errors.New("the user's waiting tasks hold too much")
	// ErrInvalid is wrapped by refusals of a request's content.
	ErrInvalid = errors.New("invalid request")
	// ErrTooLarge is wrapped when a request passes a limit of size.
	ErrTooLarge = errors.New("too large")
	// ErrRepeat is returned for a request under the key of another one.
	ErrRepeat = errors.New("another request was sent under this key before")
	// ErrModel is wrapped when a task names a model that is not listed.
	ErrModel = errors.New("there is no such model")
	// ErrLanguage is wrapped when no sandbox runs the language asked for.
	ErrLanguage = errors.New("no sandbox runs this language")
	// ErrWorking is returned for a session that cannot be erased yet.
	ErrWorking = errors.New("the session is at work")
	// ErrMoved is returned for what went on in this process and goes on in another.
	ErrMoved = errors.New("another process goes on with this")
	// ErrCutOff is returned while this process cannot reach the store that it shares.
	ErrCutOff = errors.New("this process is cut off from the store that it shares with others")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the service is shutting down")
)

// Reasons for which the agent ends a task; each becomes a Problem.
var (
	errUnkept  = errors.New("what the task does cannot be kept")
	errTurns   = errors.New("turn limit reached")
	errTokens  = errors.New("token limit reached")
	errCalls   = errors.New("limit of tool calls reached")
	errCost    = errors.New("cost limit reached")
	errTime    = errors.New("time limit reached")
	errStuck   = errors.New("the same failure three times")
	errRefused = errors.New("the model refused")
	errFailed  = errors.New("the task could not be done")
	errLength  = errors.New("the model's answer was cut at its length limit")
)
