package rooted

import (
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The longest path and the longest name in it, in bytes, as Linux has them
// (limits.h: PATH_MAX, NAME_MAX).
const (
	maxPath = 4096
	maxName = 255
)

// maxDepth bounds how deep a path goes, since each look-up and each step of Walk
// costs one system call per element.
const maxDepth = 64

// tempPrefix starts the names of files that are being written. Nobody outside
// can name, see or keep one.
const tempPrefix = ".airlock-write-"

// encoded finds percent-encoded dots, slashes, backslashes and NULs, also when
// encoded more than once. Nothing here decodes them, but something before or
// behind us may.
var encoded = regexp.MustCompile(`(?i)%(25)*(2e|2f|5c|00)`)

// CheckName reports what keeps name from being a relative path below a Dir.
func CheckName(name string) error {
	switch {
	case len(name) > maxPath:
		return refuse(fs.ErrInvalid, "the path is longer than 4096 bytes; use shorter names")
	case !utf8.ValidString(name):
		return refuse(fs.ErrInvalid, "the path is not UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return refuse(fs.ErrInvalid, "the path holds a control character; remove it")
	case strings.ContainsFunc(name, turnsText):
		return refuse(fs.ErrInvalid, "the path holds a character that turns the direction of text; remove it")
	case depth(name) > maxDepth:
		return refuse(fs.ErrInvalid, "the path is more than 64 folders deep; use fewer")
	case strings.Contains(name, `\`):
		return refuse(fs.ErrInvalid, `the path holds a backslash; separate folders with "/"`)
	case encoded.MatchString(name):
		return refuse(fs.ErrInvalid, "the path holds a percent-encoded dot, slash or NUL; write it plainly")
	}
	return checkElements(name)
}

// turnsText reports the characters that embed, override or isolate the direction of text
// (Unicode's Bidi_Control without the marks): by them a program can look like a picture.
func turnsText(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

func depth(name string) int { return strings.Count(name, "/") + 1 }

func checkElements(name string) error {
	if name == "." {
		return nil
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "..":
			return refuse(fs.ErrInvalid, `the path holds ".."; write it from the folder down`)
		case element == "" || element == ".":
			return refuse(fs.ErrInvalid, `the path holds an empty name; write it as "folder/file"`)
		case len(element) > maxName:
			return refuse(fs.ErrInvalid, "a name in the path is longer than 255 bytes; use a shorter one")
		case strings.HasPrefix(element, tempPrefix):
			return refuse(fs.ErrPermission, "names that begin with \""+tempPrefix+"\" are kept for files being written; use another")
		}
	}
	return nil
}
