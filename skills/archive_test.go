package skills

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
)

// packed makes an archive of names and texts; change may alter each header.
func packed(t testing.TB, files [][2]string, change ...func(*zip.FileHeader)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f[0], Method: zip.Deflate}
		for _, c := range change {
			c(h)
		}
		part, err := w.CreateHeader(h)
		if err == nil {
			_, err = part.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestASkillGoesThroughAnArchive(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	for _, u := range []Upload{
		single("a.py", "\"\"\"Counts.\"\"\"\ndef run(input): return 1\n"),
		{Name: "herd", Files: map[string][]byte{"SKILL.md": []byte(about("herd")), "scripts/main.js": []byte("// x\n")}},
	} {
		add(t, s, me, u, nil)
		data, file, err := s.Zip(me, trimEnding(u.Name))
		if err != nil || file != trimEnding(u.Name)+".zip" {
			t.Fatalf("packed %s, %v", file, err)
		}
		got, err := ReadZip(data)
		if err != nil || got.Name != u.Name || !maps.EqualFunc(got.Files, u.Files, bytes.Equal) {
			t.Errorf("read %+v, %v", got, err)
		}
		if again, _, err := s.Zip(me, trimEnding(u.Name)); err != nil || !bytes.Equal(again, data) {
			t.Errorf("packed again it differs: %v", err)
		}
	}
	flat, err := ReadZip(packed(t, [][2]string{{"SKILL.md", about("herd")}, {"main.js", "// x\n"}, {"__MACOSX/x", "y"}, {".DS_Store", "z"}}))
	if err != nil || flat.Name != "herd" || len(flat.Files) != 2 {
		t.Errorf("read %+v, %v", flat, err)
	}
}

func TestArchivesAreRefused(t *testing.T) {
	t.Parallel()
	skill := [2]string{"a/SKILL.md", about("a")}
	many := [][2]string{skill}
	for i := range maxFiles {
		many = append(many, [2]string{fmt.Sprintf("a/%d.txt", i), "x"})
	}
	big := strings.Repeat("x", maxFileBytes)
	link := func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }
	secret := func(h *zip.FileHeader) { h.Flags |= 1 }
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"no archive":         {[]byte("PK"), "no zip file"},
		"an empty one":       {packed(t, nil), "the archive is empty"},
		"a way up":           {packed(t, [][2]string{skill, {"../x", "y"}}), "names in a skill"},
		"a way up within":    {packed(t, [][2]string{skill, {"a/../../x", "y"}}), "names in a skill"},
		"an absolute name":   {packed(t, [][2]string{skill, {"/etc/x", "y"}}), "names in a skill"},
		"a drive":            {packed(t, [][2]string{skill, {"C:/x", "y"}}), "names in a skill"},
		"a backslash":        {packed(t, [][2]string{skill, {`a\..\x`, "y"}}), "names in a skill"},
		"a link":             {packed(t, [][2]string{{"a/x", "/etc/passwd"}}, link), "link or a special file"},
		"a password":         {packed(t, [][2]string{skill}, secret), "encrypted"},
		"two skills":         {packed(t, [][2]string{skill, {"b/SKILL.md", about("b")}}), "must hold one skill"},
		"a file twice":       {packed(t, [][2]string{skill, skill}), "holds a file twice"},
		"many files":         {packed(t, many), "more than 32 files"},
		"a large file":       {packed(t, [][2]string{{"a/x", big + "x"}}), "a file of the archive has more than"},
		"much in small":      {packed(t, [][2]string{{"a/1", big}, {"a/2", big}, {"a/3", big}, {"a/4", big}, {"a/5", "x"}}), "unpacks to more than"},
		"a size that lies":   {lying(t, packed(t, [][2]string{{"a/x", strings.Repeat(big, 8)}})), "archive"},
		"folders too deep":   {packed(t, [][2]string{{"a/b/c/d/e/f/g", "x"}}), "four deep"},
		"too many bytes":     {make([]byte, maxZipBytes+1), "more than 2097152 bytes"},
		"front matter of it": {packed(t, [][2]string{{"SKILL.md", "# x"}, {"x", "y"}}), "SKILL.md line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadZip(tc.data)
			var unfit *Fault
			if !errors.As(err, &unfit) || !strings.Contains(unfit.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// lying makes an archive of one file claim that it unpacks to one byte.
func lying(t *testing.T, data []byte) []byte {
	t.Helper()
	at := bytes.LastIndex(data, []byte("PK\x01\x02")) // the central directory's entry
	if at < 0 {
		t.Fatal("no directory")
	}
	binary.LittleEndian.PutUint32(data[at+24:], 1) // APPNOTE.TXT, 4.3.12: uncompressed size
	return data
}

func FuzzReadZip(f *testing.F) {
	f.Add(packed(f, [][2]string{{"a/SKILL.md", about("a")}}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := ReadZip(data)
		if err != nil {
			return
		}
		if b, err := newBundle(u); err == nil {
			for _, name := range b.names() {
				if !fs.ValidPath(name) {
					t.Errorf("took the name %q", name)
				}
			}
		}
	})
}
