package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/workspace"
)

// The addresses of resources. Names are told with tokens in place of personal values,
// and escaped.
const (
	skillPrefix    = "airlock://skills/"
	artifactPrefix = "airlock://artifacts/"
)

func (f *Server) templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{
		{
			Template: mcp.NewResourceTemplate(skillPrefix+"{+name}", "skill", mcp.WithTemplateDescription("A skill: what it does and how it is called")),
			Handler:  f.readResource,
		},
		{
			Template: mcp.NewResourceTemplate(artifactPrefix+"{+name}", "artifact", mcp.WithTemplateDescription("A file that scripts left for the user")),
			Handler:  f.readResource,
		},
	}
}

// GetSessionResources lists the user's skills and artifacts of the moment.
func (s *session) GetSessionResources() map[string]server.ServerResource {
	all := map[string]server.ServerResource{}
	skills, err := s.talks.Skills()
	if err != nil {
		s.face.log.Error("the skills cannot be listed for a host", zap.Error(err))
	}
	for _, k := range skills {
		all[skillPrefix+escape(k.Name.String())] = server.ServerResource{Handler: s.face.readResource, Resource: mcp.Resource{
			URI: skillPrefix + escape(k.Name.String()), Name: "skills/" + k.Name.String(), Description: k.Description.String(), MIMEType: "text/plain",
		}}
	}
	artifacts, err := s.talks.Artifacts()
	if err != nil {
		s.face.log.Error("the artifacts cannot be listed for a host", zap.Error(err))
	}
	for _, a := range artifacts {
		link := artifactLink(a)
		all[link.URI] = server.ServerResource{Handler: s.face.readResource, Resource: mcp.Resource{
			URI: link.URI, Name: "artifacts/" + link.Name, Description: link.Description, MIMEType: link.MIMEType, Size: link.Size,
		}}
	}
	return all
}

// SetSessionResources does nothing: what there is is known by the service alone.
func (s *session) SetSessionResources(map[string]server.ServerResource) {}

func artifactLink(a orchestrator.Artifact) mcp.ResourceLink {
	size := a.Size
	return mcp.ResourceLink{
		Type: mcp.ContentTypeLink, URI: artifactPrefix + escape(a.Name.String()), Name: a.Name.String(),
		Description: "a file that a script left for the user", MIMEType: a.MIME, Size: &size,
	}
}

// escape writes a name into a URI, with its slashes.
func escape(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// maxResource bounds a resource that is read at once, in bytes.
const maxResource = 4 << 20

// The reasons for which a resource is not read, as hosts are told them.
var (
	errNoResource = errors.New("there is no such resource; resources/list names them")
	errTooLarge   = errors.New("the file is too large to be read at once; read it in parts by a script")
	errUntold     = errors.New("the file is not text and may hold real values, so it cannot be read here; the user can download it")
	errUnread     = errors.New("the resource cannot be read; the server's log says why")
)

func (f *Server) readResource(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	s := server.ClientSessionFromContext(ctx).(*session)
	contents, err := s.read(ctx, r.Params.URI)
	switch {
	case err == nil:
		return []mcp.ResourceContents{contents}, nil
	case errors.Is(err, orchestrator.ErrUntold):
		return nil, errUntold
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrPermission):
		codeError(ctx, mcp.RESOURCE_NOT_FOUND)
		return nil, errNoResource
	case errors.Is(err, workspace.ErrTooLarge):
		return nil, errTooLarge
	}
	f.log.Error("a resource cannot be read", zap.Error(err))
	return nil, errUnread
}

func (s *session) read(ctx context.Context, uri string) (mcp.ResourceContents, error) {
	if name, ok := strings.CutPrefix(uri, skillPrefix); ok {
		name, err := url.PathUnescape(name)
		if err != nil {
			return nil, errors.Join(err, fs.ErrInvalid)
		}
		text, err := s.talks.Skill(name)
		return mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: text.String()}, err
	}
	name, err := url.PathUnescape(strings.TrimPrefix(uri, artifactPrefix))
	if err != nil {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	file, err := s.talks.Artifact(ctx, name, maxResource)
	switch {
	case err != nil:
		return nil, err
	case file.Data != nil:
		return mcp.BlobResourceContents{URI: uri, MIMEType: file.MIME, Blob: base64.StdEncoding.EncodeToString(file.Data)}, nil
	default:
		return mcp.TextResourceContents{URI: uri, MIMEType: file.MIME, Text: file.Text.String()}, nil
	}
}

// changed tells the user's hosts that there is something new among the resources.
func (f *Server) changed(user ident.User, made []orchestrator.Artifact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sessions {
		if s.user != user || !s.Initialized() {
			continue
		}
		s.own.add(notification(mcp.MethodNotificationResourcesListChanged, nil), true)
		for _, a := range made {
			if uri := artifactLink(a).URI; s.IsSubscribedToResource(uri) {
				s.own.add(notification(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri}), true)
			}
		}
	}
}
