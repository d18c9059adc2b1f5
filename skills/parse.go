package skills

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"airlock/pii"
)

// parsed is a skill with its files.
type parsed struct {
	Skill
	bundle bundle
	// about is the file that describes it, for people and models to read.
	about string
	// name is what is unique within a scope: the entry without its ending.
	name string
	// example and test are scripts that show that it works.
	example, test string
}

// aboutFiles are the names of the file that describes a skill: the Agent Skills
// format's, and two that are met. Only the first binds its name to the folder's.
var aboutFiles = []string{"SKILL.md", "Skill.md", "skill.md"}

// mainFiles are the names of a skill's code, with its language.
var mainFiles = []struct{ file, language string }{
	{"main.js", "javascript"}, {"scripts/main.js", "javascript"},
	{"main.py", "python"}, {"scripts/main.py", "python"},
}

// roots is where each scope is found by scripts.
var roots = map[Scope]string{ScopeLibrary: "/skills/library", ScopeShared: "/skills/shared", ScopeUser: "/skills"}

// parse reads what a bundle says about itself.
func parse(b bundle, scope Scope) (parsed, error) {
	for _, name := range b.names() {
		if !utf8.Valid(b.files[name]) || strings.ContainsRune(string(b.files[name]), 0) {
			return parsed{}, fault(name, 0, "the file is not UTF-8 text; keep other data in /workspace")
		}
	}
	p := parsed{bundle: b, name: trimEnding(b.entry)}
	var h header
	var err error
	if b.folder {
		h, err = p.readFolder()
	} else {
		h, err = p.readSingle()
	}
	if err != nil {
		return parsed{}, err
	}
	p.describe(h, scope)
	return p, nil
}

func (p *parsed) readFolder() (header, error) {
	for _, name := range aboutFiles {
		if _, ok := p.bundle.files[name]; ok {
			p.about = name
			break
		}
	}
	if p.about == "" {
		return header{}, fault("", 0, "the folder has no SKILL.md; add one with name and description")
	}
	h, err := parseFrontMatter(p.about, p.bundle.files[p.about])
	if err != nil {
		return h, err
	}
	if p.about == aboutFiles[0] {
		if err := h.checkFolderName(p.about, p.name); err != nil {
			return h, err
		}
	}
	p.Path = path.Join(p.bundle.entry, p.about)
	for _, m := range mainFiles {
		if _, ok := p.bundle.files[m.file]; ok {
			p.Path, p.Language = path.Join(p.bundle.entry, m.file), m.language
			break
		}
	}
	return h, nil
}

func (p *parsed) readSingle() (header, error) {
	p.about, p.Path = p.bundle.entry, p.bundle.entry
	p.Language = "javascript"
	if strings.HasSuffix(p.bundle.entry, ".py") {
		p.Language = "python"
	}
	h := headComment(string(p.bundle.files[p.about]))
	h.name = p.name
	return h, nil
}

// describe fills the Skill.
func (p *parsed) describe(h header, scope Scope) {
	p.ID = p.name
	if scope != ScopeUser {
		p.ID = string(scope) + "/" + p.name
	}
	p.Path = path.Join(roots[scope], p.Path)
	p.Scope, p.Version, p.AllowedTools = scope, h.version, h.tools
	p.words, p.example, p.test = newVocabulary(h), h.example, h.test
	p.Name = pii.NewRaw(h.name)
	if h.description == "" {
		h.description = strings.Join(splitWords(h.name), " ")
	}
	p.Description = pii.NewRaw(h.description)
	for _, in := range h.inputs {
		p.Inputs = append(p.Inputs, in.public())
	}
}

func (in declared) public() Input {
	public := Input{Name: in.name, Type: in.kind, Description: pii.NewRaw(in.description), Required: in.required}
	for _, value := range in.enum {
		public.Enum = append(public.Enum, pii.NewRaw(value))
	}
	return public
}

// load reads all skills of a folder. One that is not well-formed does not hide the
// others; it is among the faults, in the order of the folder.
func load(t tree, scope Scope) (found []parsed, faults []error) {
	infos, err := t.ReadDir(".", maxEntries)
	if err != nil {
		return nil, []error{readFault(err)}
	}
	for _, info := range infos {
		if notASkill(info) {
			continue
		}
		b, err := readBundle(t, info)
		if err == nil {
			var p parsed
			if p, err = parse(b, scope); err == nil {
				found = append(found, p)
				continue
			}
		}
		faults = append(faults, err)
	}
	return found, faults
}

// notASkill leaves out what lies beside skills in a folder that people keep: notes,
// licences, hidden files, the Go file of the library.
func notASkill(info fs.FileInfo) bool {
	ext := path.Ext(info.Name())
	return strings.HasPrefix(info.Name(), ".") || (!info.IsDir() && ext != ".js" && ext != ".py")
}
