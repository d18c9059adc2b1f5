package skills

import (
	"slices"
	"time"

	"airlock/ident"
)

// keepVersions is how many versions of a skill are kept, the current one included.
const keepVersions = 10

// index is what an owner has, as index.json keeps it.
type index struct {
	Schema int                `json:"schema"`
	Skills map[string]history `json:"skills"`
	// Runs count by the skill's ID, those of the other scopes included.
	Runs map[string]Runs `json:"runs,omitempty"`
}

// history is the versions of one skill, oldest first; the last is current.
type history []Version

// Version is one saved state of a skill.
type Version struct {
	Number int       `json:"number"`
	Hash   string    `json:"hash"`
	Size   int       `json:"size"`
	At     time.Time `json:"at"`
	How    How       `json:"how,omitempty"`
	// Session is the one whose script wrote it, Task what that script worked on.
	Session ident.Session `json:"session,omitempty"`
	Task    ident.Task    `json:"task,omitempty"`
	// From is the version that was rolled back to.
	From int `json:"from,omitempty"`
	// Author is the pseudonym of the user whose skill was promoted.
	Author string `json:"author,omitempty"`
	// Tools are the fingerprints of the tools it names, as they were.
	Tools    map[string]string `json:"tools,omitempty"`
	Verified *Verification     `json:"verified,omitempty"`
}

func (h history) current() Version {
	if len(h) == 0 {
		return Version{}
	}
	return h[len(h)-1]
}

// number finds a version; false if it is not kept.
func (h history) number(n int) (Version, bool) {
	i := slices.IndexFunc(h, func(v Version) bool { return v.Number == n })
	if i < 0 {
		return Version{}, false
	}
	return h[i], true
}

// hashed finds the latest version of that content; false if none is kept.
func (h history) hashed(hash string) (Version, bool) {
	for _, v := range slices.Backward(h) {
		if v.Hash == hash {
			return v, true
		}
	}
	return Version{}, false
}

func (ix index) entries() []string {
	entries := make([]string, 0, len(ix.Skills))
	for e := range ix.Skills {
		entries = append(entries, e)
	}
	slices.Sort(entries)
	return entries
}

// size is the bytes of all current versions but one entry's.
func (ix index) size(without string) int {
	n := 0
	for entry, h := range ix.Skills {
		if entry != without {
			n += h.current().Size
		}
	}
	return n
}

// entry finds the file or folder that a skill of this name is.
func (ix index) entry(name string) (string, bool) {
	for entry := range ix.Skills {
		if trimEnding(entry) == name {
			return entry, true
		}
	}
	return "", false
}
