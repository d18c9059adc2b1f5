package api

import (
	"context"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/workspace"
)

// Service is the work behind the API; *orchestrator.Service does it.
type Service interface {
	Submit(context.Context, orchestrator.TaskRequest) (ident.Task, error)
	Wait(context.Context, ident.User, ident.Task) (orchestrator.Task, error)
	Task(ident.User, ident.Task) (orchestrator.Task, error)
	Tasks(ident.User) ([]orchestrator.Task, error)
	Cancel(ident.User, ident.Task) error
	Events(user ident.User, id ident.Task, after int) ([]orchestrator.Event, <-chan struct{}, error)
	Decide(ident.User, ident.Task, ident.Approval, orchestrator.Decision) error
	Execute(context.Context, orchestrator.ExecuteRequest) (orchestrator.Execution, error)
	Tools(context.Context, ident.User, bridge.Query) (pii.Tokenized, *pii.Vault, error)
	Tool(context.Context, ident.User, string) (pii.Tokenized, *pii.Vault, error)
	Rename(ident.User, ident.Session, pii.Raw) error
	SkillService
	// AnnounceErasure comes before EraseUser in the process that is asked first.
	AnnounceErasure(context.Context, ident.User) error
	EraseUser(context.Context, ident.User) error
	EraseSession(context.Context, ident.User, ident.Session) error
	Artifacts(context.Context, ident.User) ([]workspace.Artifact, error)
	ReadArtifact(context.Context, ident.User, string) (orchestrator.ArtifactFile, error)
	DeleteArtifact(context.Context, ident.User, string) error
	// Visitor makes a vault of no session: its tokens stand for nothing elsewhere.
	Visitor() (*pii.Vault, error)
	Languages() []sandbox.Language
	Check(context.Context) map[string]error
}
