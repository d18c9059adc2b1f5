package workspace

import (
	"path"
	"strings"
)

// content is what a file of some extension holds.
type content struct {
	mime string
	text bool
}

// unknown is told for everything else, so that no browser guesses.
var unknown = content{"application/octet-stream", false}

// contents is all we know. A table of our own, and not the system's, so that the
// same file is served alike everywhere. Types that a browser would run, HTML and
// SVG, are told as they are; who serves them must serve them as attachments.
var contents = map[string]content{
	".txt": {"text/plain; charset=utf-8", true}, ".log": {"text/plain; charset=utf-8", true},
	".md": {"text/markdown; charset=utf-8", true}, ".csv": {"text/csv; charset=utf-8", true},
	".tsv":  {"text/tab-separated-values; charset=utf-8", true},
	".json": {"application/json", true}, ".jsonl": {"application/x-ndjson", true},
	".xml": {"application/xml", true}, ".yaml": {"application/yaml", true}, ".yml": {"application/yaml", true},
	".html": {"text/html; charset=utf-8", true}, ".htm": {"text/html; charset=utf-8", true},
	".svg": {"image/svg+xml", true},
	// Source code is shown, never run.
	".js": {"text/plain; charset=utf-8", true}, ".ts": {"text/plain; charset=utf-8", true},
	".py": {"text/plain; charset=utf-8", true}, ".sh": {"text/plain; charset=utf-8", true},
	".sql": {"text/plain; charset=utf-8", true},
	".png": {"image/png", false}, ".jpg": {"image/jpeg", false}, ".jpeg": {"image/jpeg", false},
	".gif": {"image/gif", false}, ".webp": {"image/webp", false},
	".pdf": {"application/pdf", false}, ".zip": {"application/zip", false},
	".xlsx": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false},
	".docx": {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
	".pptx": {"application/vnd.openxmlformats-officedocument.presentationml.presentation", false},
}

func contentType(name string) (mime string, text bool) {
	c, known := contents[strings.ToLower(path.Ext(name))]
	if !known {
		c = unknown
	}
	return c.mime, c.text
}
