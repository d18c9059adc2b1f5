// Package seccomp holds the filter of system calls that containers run under.
//
// It is the engine's own default filter with less in it: what is taken out, and
// why, stands in the table of the program in folder generate, which makes
// profile.json. A new version of the default comes in by its module's version;
// a test fails until the file is made again and its difference looked at.
package seccomp

import _ "embed"

//go:generate go run ./generate -out profile.json

//go:embed profile.json
var profile string

// Profile is the filter as the engine takes it: the JSON after "seccomp=".
func Profile() string { return profile }
