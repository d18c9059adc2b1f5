package skills

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxZipBytes bounds an archive before anything of it is looked at.
const maxZipBytes = 2 << 20

// ReadZip reads a skill from a zip archive: one folder with SKILL.md in it, the
// same without the folder, or a single file. What is wrong with it is a *Fault.
// Nothing of it is written anywhere, names that lead out of it and links are
// refused, and a file is read no further than it may be long.
func ReadZip(data []byte) (Upload, error) {
	if len(data) > maxZipBytes {
		return Upload{}, fault("", 0, fmt.Sprintf("the archive has more than %d bytes; a skill holds code and text, no data", maxZipBytes))
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return Upload{}, fault("", 0, "the archive is no zip file, or is damaged")
	}
	files, err := readFiles(archive)
	if err != nil {
		return Upload{}, err
	}
	return uploadOf(files)
}

// readFiles reads all regular files, by their names in the archive.
func readFiles(archive *zip.Reader) (map[string][]byte, error) {
	files := map[string][]byte{}
	total := 0
	for _, f := range archive.File {
		if litter(f.Name) {
			continue
		}
		if f.Mode().IsDir() && strings.HasSuffix(f.Name, "/") {
			if err := checkFileName(strings.TrimSuffix(f.Name, "/")); err != nil {
				return nil, err
			}
			continue
		}
		if len(files) >= maxFiles {
			return nil, fault("", 0, fmt.Sprintf("the archive holds more than %d files; a skill may not", maxFiles))
		}
		text, err := readFile(f)
		if err != nil {
			return nil, err
		}
		if _, twice := files[f.Name]; twice {
			return nil, fault("", 0, "the archive holds a file twice; keep one")
		}
		files[f.Name] = text
		if total += len(text); total > maxSkillBytes {
			return nil, fault("", 0, fmt.Sprintf("the archive unpacks to more than %d bytes; keep data in /workspace", maxSkillBytes))
		}
	}
	return files, nil
}

func readFile(f *zip.File) ([]byte, error) {
	switch {
	case !f.Mode().IsRegular():
		return nil, fault("", 0, "the archive holds a link or a special file; only plain files are taken")
	case f.Flags&1 != 0: // APPNOTE.TXT, 4.4.4: encrypted
		return nil, fault("", 0, "the archive is encrypted; make one without a password")
	case strings.Count(f.Name, "/") > maxDepth+1:
		return nil, faultDepth()
	}
	for element := range strings.SplitSeq(f.Name, "/") {
		if !fileForm.MatchString(element) {
			return nil, faultFileName()
		}
	}
	tooLong := fault("", 0, fmt.Sprintf("a file of the archive has more than %d bytes; keep data in /workspace", maxFileBytes))
	if f.UncompressedSize64 > maxFileBytes {
		return nil, tooLong
	}
	r, err := f.Open()
	if err != nil {
		return nil, fault("", 0, "the archive is damaged, or packed in a way that is not known; use zip's usual one")
	}
	defer r.Close()
	// The size that it declares need not be the one that it has.
	text, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, fault("", 0, "the archive is damaged")
	case len(text) > maxFileBytes:
		return nil, tooLong
	}
	return text, nil
}

// litter is what systems put beside people's files.
func litter(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || path.Base(name) == ".DS_Store"
}

// uploadOf finds the skill among the files.
func uploadOf(files map[string][]byte) (Upload, error) {
	names := bundle{files: files}.names()
	if len(names) == 1 && !strings.Contains(names[0], "/") && slices.Contains([]string{".js", ".py"}, path.Ext(names[0])) {
		return Upload{Name: names[0], Files: files}, nil
	}
	for _, about := range aboutFiles {
		if text, ok := files[about]; ok {
			h, err := parseFrontMatter(about, text)
			return Upload{Name: h.name, Files: files}, err
		}
	}
	u := Upload{Files: map[string][]byte{}}
	for _, name := range names {
		top, rest, ok := strings.Cut(name, "/")
		if !ok || (u.Name != "" && top != u.Name) {
			return Upload{}, fault("", 0, "the archive must hold one skill: a folder with SKILL.md, or a file name.js or name.py")
		}
		u.Name, u.Files[rest] = top, files[name]
	}
	if u.Name == "" {
		return Upload{}, fault("", 0, "the archive is empty")
	}
	return u, nil
}

// Zip packs a skill for another installation, and tells the name to give the file.
// A shared skill with personal data in it, which only the operator can have put
// there, is refused.
func (s *Store) Zip(userKey, name string) (data []byte, file string, err error) {
	p, err := s.find(userKey, name, nil)
	if err != nil {
		return nil, "", fmt.Errorf("pack a skill: %w", err)
	}
	if err := s.guard.check(p.bundle); err != nil {
		return nil, "", fmt.Errorf("pack a skill: %w", err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range p.bundle.names() {
		full := name
		if p.bundle.folder {
			full = path.Join(p.bundle.entry, name)
		}
		// Always the same bytes for the same skill.
		h := &zip.FileHeader{Name: full, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(fs.FileMode(0o644))
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write(p.bundle.files[name])
		}
		if err != nil {
			return nil, "", fmt.Errorf("pack a skill: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("pack a skill: %w", err)
	}
	return out.Bytes(), p.name + ".zip", nil
}
