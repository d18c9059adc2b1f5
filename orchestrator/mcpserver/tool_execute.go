package mcpserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/orchestrator"
	"airlock/runtime/sandbox"
)

func executeCode(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Language sandbox.Language `json:"language"`
		Code     string           `json:"code"`
		Timeout  float64          `json:"timeout"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	if in.Language == "" {
		in.Language = sandbox.JavaScript
	}
	return c.execute(ctx, in.Language, in.Code, in.Timeout)
}

func executeBash(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	return c.execute(ctx, sandbox.Bash, in.Command, in.Timeout)
}

// maxTimeout keeps a number of seconds within what a Duration holds; the service's
// own limit is far below.
const maxTimeout = 86_400

func (c call) execute(ctx context.Context, language sandbox.Language, code string, timeout float64) *mcp.CallToolResult {
	if c.begun != nil {
		if wait := c.begun(c.user); wait > 0 {
			return c.refusal("this user has begun too much in a short time", fmt.Sprintf("try again in %.0f s", math.Ceil(wait.Seconds())))
		}
	}
	follow := c.follower(ctx)
	out, told, err := c.talks.Execute(ctx, orchestrator.ExecuteRequest{
		Language: language, Code: code, Timeout: time.Duration(min(timeout, maxTimeout) * float64(time.Second)),
		Follow: follow.event, Approve: c.approve,
	})
	if err != nil {
		return c.failed(ctx, "execute", err)
	}
	result := structured(told)
	result.IsError = out.Error != nil
	result.Content = append(result.Content, c.pictures(ctx, out.Artifacts)...)
	if len(out.Artifacts) > 0 || len(out.Saved) > 0 {
		c.face.changed(c.user, out.Artifacts)
	}
	return result
}

// What of a script's pictures is shown to the host's model at once.
const (
	maxPictures     = 4
	maxPictureBytes = 1 << 20
)

// pictures shows the charts that a script made, and links to all of its artifacts.
func (c call) pictures(ctx context.Context, made []orchestrator.Artifact) []mcp.Content {
	var shown, links []mcp.Content
	for _, a := range made {
		links = append(links, artifactLink(a))
		if len(shown) == maxPictures || !pictureTypes[a.MIME] {
			continue
		}
		file, err := c.talks.Artifact(ctx, a.Name.String(), maxPictureBytes)
		if err != nil || http.DetectContentType(file.Data) != a.MIME {
			continue // the link is there, and reading it tells why it cannot be shown
		}
		shown = append(shown, mcp.ImageContent{Type: mcp.ContentTypeImage, Data: base64.StdEncoding.EncodeToString(file.Data), MIMEType: a.MIME})
	}
	return append(shown, links...)
}

// pictureTypes are those that models can look at.
var pictureTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}
