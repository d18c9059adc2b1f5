package main

import (
	"runtime/debug"
	"strings"
)

// version tells what the program was built from: the module's version, and the
// commit where it was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "airlock, of an unknown version"
	}
	parts := []string{"airlock", info.Main.Version, info.GoVersion}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			parts = append(parts, s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			parts = append(parts, "modified")
		}
	}
	return strings.Join(parts, " ")
}

// moduleVersion is the version alone, as protocols want it.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
