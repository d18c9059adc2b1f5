// Package helpers holds what a sandbox gives to the scripts it runs: the tool
// functions, files, console, timers and the other names that scripts expect to
// find. It is JavaScript text for the embedded engine, nothing here runs in Go.
//
// JavaScript returns the prelude, one expression that a driver evaluates in a
// fresh engine before any code of a user:
//
//	hooks = (prelude)(host)
//
// The prelude takes the parts of the language it needs at that moment; scripts
// may redefine what they like afterwards, the helpers and hooks go on working,
// and no script reaches host. What heavier helpers are made of stays text until
// their first use, since an engine lives for one execution only. A driver that
// copies engines from a template calls hooks.warm() in the template.
//
// What host must offer and what hooks do is in seam.md beside this file.
package helpers

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed js
var sources embed.FS

// core lists the sources that every execution runs, in their order.
var core = []string{
	"language", "values", "parse", "encode", "kinds", "errors",
	"bridge", "tools", "decode", "lazy", "hooks",
}

// JavaScript returns the prelude. It is the same text at every call.
func JavaScript() string { return prelude() }

var prelude = sync.OnceValue(func() string {
	var out strings.Builder
	out.WriteString("(function (host) {\n'use strict';\n")
	out.WriteString("const sources = " + lazySources() + ";\n")
	for _, name := range core {
		out.WriteString(read("js/core/" + name + ".js"))
	}
	out.WriteString("})")
	return out.String()
})

// lazySources writes an object that maps the names under js/lazy to their text.
func lazySources() string {
	var out strings.Builder
	out.WriteString("{ __proto__: null")
	for _, name := range lazyNames() {
		out.WriteString(",\n" + name + ": " + literal(read("js/lazy/"+name+".js")))
	}
	out.WriteString("}")
	return out.String()
}

func lazyNames() []string {
	entries, _ := fs.ReadDir(sources, "js/lazy") // embedded: always there
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(path.Base(entry.Name()), ".js"))
	}
	return names
}

// read returns a source without its comment lines and indentation: an engine
// reads the prelude for each execution, and it costs by the byte. No source has
// a text that goes over several lines; a test sees to it.
func read(name string) string {
	data, _ := sources.ReadFile(name) // embedded: always there
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(ascii(line) + "\n")
		}
	}
	return out.String()
}

// ascii escapes what is not ASCII, which only texts hold: one such character
// makes an engine keep a whole source in twice the room.
func ascii(line string) string {
	var out strings.Builder
	for _, r := range line {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// literal writes text as a JavaScript string.
func literal(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // strings always encode
	return strings.TrimSuffix(out.String(), "\n")
}
