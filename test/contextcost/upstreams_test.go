package contextcost

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

// realFunctions are the tools of real servers, which are data kept outside the
// project.
func realFunctions(tb testing.TB) []realTool {
	tb.Helper()
	dir := os.Getenv("AIRLOCK_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "mcp-tools", "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var all []realTool
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var list struct{ Tools []realTool }
		if err := json.Unmarshal(data, &list); err != nil {
			tb.Fatal(err)
		}
		name := filepath.Base(file)
		for _, t := range list.Tools {
			t.server = name[:len(name)-len(".json")]
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		missing := "no tool lists in " + dir + "; set AIRLOCK_TESTDATA to the folder that holds mcp-tools"
		if os.Getenv("CI") == "true" {
			tb.Fatal(missing)
		}
		tb.Skip(missing)
	}
	return all
}

// realTool is one tool as a real server listed it.
type realTool struct {
	Name, Description string
	InputSchema       json.RawMessage
	server            string
}

func (r realTool) function() function {
	return function{r.server + "__" + r.Name, r.Description, r.InputSchema}
}

func (r realTool) tool() servers.Tool {
	return servers.Tool{Server: r.server, Name: r.Name, Description: pii.NewRaw(r.Description), InputSchema: pii.NewRaw(string(r.InputSchema))}
}

// listOrders is the one tool of the task. Its server has a thousand orders and
// gives a hundred at a time.
var listOrders = realTool{
	server: "shop", Name: "list_orders", Description: "List the shop's orders, a hundred on each page.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer","minimum":1,"description":"From 1."}},"required":["page"]}`),
}

const (
	orders  = 1000
	perPage = 100
)

// order is one record of the shop.
type order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Region   string `json:"region"`
	Status   string `json:"status"`
	Placed   string `json:"placed"`
	Cents    int    `json:"cents"`
}

// page is what the tool answers.
func page(tb testing.TB, n int) string {
	tb.Helper()
	var rows []order
	for i := (n - 1) * perPage; i < min(n*perPage, orders); i++ {
		rows = append(rows, order{
			ID: fmt.Sprintf("ord_%06d", i), Customer: fmt.Sprintf("cus_%04d", i*7919%613),
			Region: []string{"north", "east", "south", "west"}[i*31%4], Status: []string{"paid", "paid", "open", "refunded", "paid"}[i*17%5],
			Placed: fmt.Sprintf("2024-%02d-%02dT%02d:15:00Z", 1+i%12, 1+i%28, i%24), Cents: 500 + i*104729%90000,
		})
	}
	text, err := json.Marshal(rows)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// shop is a catalog of some tools, of which list_orders works.
type shop struct {
	tb    testing.TB
	tools []servers.Tool
}

func (s shop) Tools(context.Context, servers.Caller) ([]servers.Tool, []servers.Fault) {
	return s.tools, nil
}

func (s shop) KnownTools(context.Context, servers.Caller) []servers.Tool { return s.tools }

func (s shop) Tool(_ context.Context, _ servers.Caller, name string) (servers.Tool, error) {
	for _, t := range s.tools {
		if t.FullName() == name {
			return t, nil
		}
	}
	return servers.Tool{}, servers.ErrUnknownTool
}

func (s shop) CallWatched(_ context.Context, _ servers.Caller, _ string, arguments json.RawMessage, _ func(servers.Progress)) (servers.Result, error) {
	var in struct{ Page int }
	if err := json.Unmarshal(arguments, &in); err != nil {
		return servers.Result{}, err
	}
	text, err := json.Marshal(page(s.tb, in.Page))
	if err != nil {
		return servers.Result{}, err
	}
	return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":` + string(text) + `}]}`)}, nil
}

func (s shop) Entry(server string) (servers.Entry, bool) { return servers.Entry{Name: server}, true }
