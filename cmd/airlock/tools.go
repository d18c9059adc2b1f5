package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
)

type toolsCommand struct {
	List   toolsList   `cmd:"" help:"List the tools."`
	Search toolsSearch `cmd:"" help:"Find tools by what they do."`
	Show   toolsShow   `cmd:"" help:"Describe one tool."`
	Call   toolsCall   `cmd:"" help:"Call one tool."`
}

type toolsList struct {
	Server string `help:"Only the tools of this server."`
	User   string `default:"local" help:"User whose tools to list."`
	JSON   bool   `help:"Print JSON."`
}

type toolsSearch struct {
	Query string `arg:"" help:"What the tool should do."`
	Limit int    `default:"10" help:"How many to print at most."`
	User  string `default:"local" help:"User whose tools to search."`
	JSON  bool   `help:"Print JSON."`
}

type toolsShow struct {
	Name string `arg:"" help:"The tool, as server__tool."`
	User string `default:"local" help:"User whose tools to look at."`
	JSON bool   `help:"Print JSON."`
}

type toolsCall struct {
	Name string `arg:"" help:"The tool, as server__tool."`
	Args string `arg:"" optional:"" default:"{}" help:"The arguments, as a JSON object."`
	User string `default:"local" help:"User to call as."`
	JSON bool   `help:"Print the whole answer of the execution as JSON."`
}

// Run lists every tool that the user's scripts can call.
func (t toolsList) Run(ctx context.Context, c *Config, std streams) error {
	return printTools(ctx, c, std, url.Values{"server": {t.Server}, "userId": {t.User}}, t.JSON)
}

// Run ranks the tools by the query.
func (t toolsSearch) Run(ctx context.Context, c *Config, std streams) error {
	return printTools(ctx, c, std, url.Values{"query": {t.Query}, "limit": {fmt.Sprint(t.Limit)}, "userId": {t.User}}, t.JSON)
}

// toolPage is the answer of GET /tools.
type toolPage struct {
	Tools []struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Score       *float64 `json:"score,omitempty"`
		Fits        *bool    `json:"fits,omitempty"`
	} `json:"tools"`
	Total      int    `json:"total"`
	Fits       *bool  `json:"fits,omitempty"`
	NextCursor string `json:"nextCursor,omitempty"`
}

func printTools(ctx context.Context, c *Config, std streams, q url.Values, asJSON bool) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	q.Set("detokenize", "true")
	q.Set("detail", "summary")
	done := progress(std, "asking the servers")
	page, err := allTools(ctx, cl, q)
	done()
	if err != nil {
		return err
	}
	for _, s := range cl.system.manager.Status() {
		if s.Last != nil {
			fmt.Fprintf(std.err, "airlock: server %s: %v\n", s.Server, s.Last)
		}
	}
	if asJSON {
		return printJSON(std.out, page)
	}
	if page.Fits != nil && !*page.Fits {
		fmt.Fprintln(std.err, "airlock: no tool seems to do that; what is listed are guesses")
	}
	if len(page.Tools) == 0 {
		fmt.Fprintln(std.err, "airlock: there is no such tool; airlock servers list shows the servers and what they lack")
	}
	for _, t := range page.Tools {
		fmt.Fprintf(std.out, "%-40s %s\n", t.Name, firstLine(t.Description, 100))
	}
	return nil
}

// allTools follows the pages of a listing; a search has one page.
func allTools(ctx context.Context, cl *client, q url.Values) (toolPage, error) {
	var all toolPage
	for {
		var page toolPage
		if err := cl.do(ctx, "/tools?"+q.Encode(), nil, &page); err != nil {
			return all, err
		}
		all.Tools, all.Total, all.Fits = append(all.Tools, page.Tools...), page.Total, page.Fits
		if page.NextCursor == "" || q.Get("query") != "" {
			return all, nil
		}
		q.Set("cursor", page.NextCursor)
	}
}

// Run prints the tool's signature and description, or all of it as JSON.
func (t toolsShow) Run(ctx context.Context, c *Config, std streams) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	var whole json.RawMessage
	path := "/tools/" + url.PathEscape(t.Name) + "?" + url.Values{"detokenize": {"true"}, "userId": {t.User}}.Encode()
	if err := cl.do(ctx, path, nil, &whole); err != nil {
		return err
	}
	if t.JSON {
		return printJSON(std.out, whole)
	}
	var tool struct{ Name, Description, Signature string }
	if err := json.Unmarshal(whole, &tool); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	fmt.Fprintf(std.out, "%s\n\n%s\n\n%s\n", tool.Name, tool.Description, tool.Signature)
	return nil
}

// Run calls the tool by a script, so that the call takes the way that all calls
// take: limits, release policy, validation, audit.
func (t toolsCall) Run(ctx context.Context, c *Config, std streams) error {
	var args map[string]json.RawMessage
	if err := json.Unmarshal([]byte(t.Args), &args); err != nil || args == nil {
		return usageError{fmt.Errorf("the arguments are not a JSON object: give them as '{\"name\": value}'")}
	}
	// As JSON in a string, so that no member means something in JavaScript.
	literals, err := json.Marshal([]string{t.Name, t.Args})
	if err != nil {
		return usageError{err}
	}
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	defer cl.close()
	code := fmt.Sprintf("const [name, args] = %s; return await callMCPTool(name, JSON.parse(args))", literals)
	body := map[string]any{"userId": t.User, "language": "javascript", "code": code, "detokenize": true}
	done := progress(std, "calling")
	var whole json.RawMessage
	err = cl.do(ctx, "/execute", body, &whole)
	done()
	if t.JSON {
		return runCommand{}.printWhole(whole, err, std)
	}
	if err != nil {
		return err
	}
	var out executed
	if err := json.Unmarshal(whole, &out); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return out.print(std)
}

// firstLine cuts a text for a table; … stands for what is left out of the line.
func firstLine(s string, width int) string {
	for i, r := range s {
		switch {
		case r == '\n':
			return s[:i]
		case i >= width:
			return s[:i] + "…"
		}
	}
	return s
}
