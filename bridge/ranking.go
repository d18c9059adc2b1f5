package bridge

import (
	"math"
	"slices"

	"airlock/discovery"
	"airlock/pii"
	"airlock/servers"
)

// found is one tool of a listing. rank is set where a text ranked it.
type found struct {
	tool servers.Tool
	rank *rank
}

// rank says how well a tool answers a text, from 0 to 1, and whether that is more
// than a guess.
type rank struct {
	Score float64 `json:"score"`
	Fits  bool    `json:"fits"`
}

// newRank keeps two digits, which is as much as the score means.
func newRank(score float64) *rank {
	score = math.Round(score*100) / 100
	return &rank{Score: score, Fits: score >= discovery.Fits}
}

// fitting is the member of an answer that says whether the best match is more than
// a guess.
func fitting(all []found) pii.Tokenized {
	if len(all) > 0 && all[0].rank != nil && all[0].rank.Fits {
		return pii.Static(`,"fits":true`)
	}
	return pii.Static(`,"fits":false`)
}

// matching lists what the query asks for, best first or by name.
func (v *view) matching(q Query) ([]found, error) {
	var all []found
	if q.Text == "" {
		for _, tool := range v.tools {
			all = append(all, found{tool: tool})
		}
		return ofServer(all, q.Server), nil
	}
	index, err := v.indexed()
	if err != nil {
		return nil, err
	}
	for _, m := range index.Search(q.Text, len(v.tools)) {
		if tool, ok := v.find(m.Name); ok {
			all = append(all, found{tool, newRank(m.Score)})
		}
	}
	return ofServer(all, q.Server), nil
}

// ofServer leaves out the tools of other servers, if one is asked for.
func ofServer(all []found, server string) []found {
	if server == "" {
		return all
	}
	return slices.DeleteFunc(all, func(f found) bool { return f.tool.Server != server })
}
