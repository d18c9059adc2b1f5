// Package discovery lets a script find its way among a thousand tools without
// reading their definitions: an Index ranks tools for a question and names the
// nearest ones to a misspelt name, and Signature renders one tool's JSON Schemas
// as the TypeScript declaration that a programmer would want to see.
//
// PythonStub and TypeScriptStub write the same for all tools of a server, Shape
// learns from results what their authors did not declare, CleanDescription and
// Fingerprint guard what servers say about their tools.
//
// Start with NewIndex. An Index never changes after it is made, so any number of
// goroutines may search it; when the tool list changes, make a new one.
//
// What upstream servers say about their tools is foreign text. The index reads
// it only after a vault of its own, thrown away afterwards, has tokenized it, and
// gives out nothing but tool names and scores. Signature takes text that was
// tokenized already. This package therefore never needs package pii/reveal, and
// it protects nothing by itself: who passes a signature on tokenized its schemas.
package discovery

import (
	"fmt"
	"slices"
	"strings"

	"airlock/pii"
	"airlock/servers"
)

// Index finds tools by words and by likeness of name.
type Index struct {
	names []string // sorted; positions in it number the tools
	ranks ranking
}

// Match is one tool for a question. Score says from 0 to 1 how much of the question
// it answers; compare it with Fits.
type Match struct {
	Name  string
	Score float64
}

// Fits is the score under which a match is a guess: when the best match of a search
// scores less, most likely no tool fits. It was chosen with the questions in
// testdata/questions.tsv, some of which no tool can answer.
const Fits = 0.3

// maxIndexedText bounds how much of one description is indexed. The real ones
// say what a tool does in their first paragraphs; what follows is examples.
const maxIndexedText = 4096

// NewIndex reads the names, titles, descriptions and parameter names of tools.
// It fails when a text cannot be tokenized or two tools share a full name.
func NewIndex(tools []servers.Tool) (*Index, error) {
	vault, err := throwAwayVault()
	if err != nil {
		return nil, fmt.Errorf("index tools: %w", err)
	}
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b servers.Tool) int { return strings.Compare(a.FullName(), b.FullName()) })
	ix := &Index{names: make([]string, 0, len(sorted))}
	words := newStemmer()
	for i, tool := range sorted {
		name := tool.FullName()
		if i > 0 && name == ix.names[i-1] {
			return nil, fmt.Errorf("index tools: two tools are named %q; rename one of their servers in catalog.json", name)
		}
		fields, err := readFields(vault, tool)
		if err != nil {
			return nil, fmt.Errorf("index tool %q: %w", name, err)
		}
		ix.names = append(ix.names, name)
		ix.ranks.intents = append(ix.ranks.intents, intentOfTool(tool.Name))
		ix.ranks.add(fields.frequencies(words), i == 0 || tool.Server != sorted[i-1].Server)
	}
	ix.ranks.finish()
	ix.ranks.called = ix.ranks.calledStems(sorted, words)
	return ix, nil
}

// Names lists all tools of the index in the order of their names.
func (ix *Index) Names() []string { return slices.Clone(ix.names) }

// fields are the texts of one tool that questions are compared with.
type fields struct {
	name, server, title, description string
	parameters                       []string
}

func readFields(vault *pii.Vault, tool servers.Tool) (fields, error) {
	from := pii.OriginServer(tool.Server)
	var texts [3]string
	for i, raw := range []pii.Raw{tool.Title, tool.Description, tool.InputSchema} {
		t, err := vault.Tokenize(raw, from)
		if err != nil {
			return fields{}, err
		}
		texts[i] = t.String()
	}
	return fields{
		name: tool.Name, server: tool.Server, title: texts[0],
		description: head(strings.Map(visible, texts[1]), maxIndexedText),
		parameters:  parameterNames([]byte(texts[2])),
	}, nil
}

// The weights say how much a word tells about a tool by where it stands. They
// were chosen with those parts of testdata/questions.tsv that may be looked at.
const (
	weightName      = 3.0
	weightServer    = 1.5
	weightTitle     = 2.0
	weightLead      = 2.0
	weightRest      = 0.5
	weightParameter = 0.1
)

// frequencies counts the stems of a tool, each occurrence by its field's weight.
func (f fields) frequencies(words *stemmer) map[string]float64 {
	counts := map[string]float64{}
	count := func(text string, weight float64) {
		for _, stem := range words.stems(text) {
			counts[stem] += weight
		}
	}
	count(f.name, weightName)
	count(f.server, weightServer)
	count(f.title, weightTitle)
	lead, rest := splitLead(f.description)
	count(lead, weightLead)
	count(rest, weightRest)
	for _, p := range f.parameters {
		count(p, weightParameter)
	}
	return counts
}

// maxLead is the longest beginning of a description that counts as its lead, in
// bytes.
const maxLead = 200

// splitLead parts a description after its first sentence, where authors say what
// a tool does.
func splitLead(description string) (lead, rest string) {
	description = strings.TrimSpace(description)
	lead = head(description, maxLead)
	for _, end := range []string{". ", ".\n", "\n\n"} {
		if i := strings.Index(lead, end); i > 0 {
			lead = lead[:i]
		}
	}
	return lead, description[len(lead):]
}
