package mirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/workspace/rooted"
)

var aHash = sha256.New().Sum(nil)

func packOf(size int) pack { return pack{"01234567-" + strings.Repeat("a", 16), size} }

func TestListsThatNoMirrorMadeAreRefused(t *testing.T) {
	t.Parallel()
	in := func(entries ...entry) manifest { return manifest{Files: entries, Packs: []pack{packOf(10)}} }
	for name, m := range map[string]manifest{
		"up":                          in(entry{Path: "..", Kind: folder}),
		"up from a folder":            in(entry{Path: "a", Kind: folder}, entry{Path: "a/../../b", Kind: folder}),
		"absolute":                    in(entry{Path: "/etc", Kind: folder}),
		"the folder itself":           in(entry{Path: ".", Kind: folder}),
		"no name":                     in(entry{Kind: folder}),
		"a file being written":        in(entry{Path: ".airlock-write-x", Hash: aHash}),
		"a control character":         in(entry{Path: "a\x00b", Hash: aHash}),
		"no order":                    in(entry{Path: "b", Kind: folder}, entry{Path: "a", Kind: folder}),
		"twice":                       in(entry{Path: "a", Kind: folder}, entry{Path: "a", Kind: folder}),
		"without the folder it is in": in(entry{Path: "a/b", Hash: aHash}),
		"below a link":                in(entry{Path: "a", Kind: link, Target: "/etc"}, entry{Path: "a/passwd", Hash: aHash}),
		"below a file":                in(entry{Path: "a", Hash: aHash}, entry{Path: "a/b", Hash: aHash}),
		"a link to nothing":           in(entry{Path: "a", Kind: link}),
		"a link with NUL":             in(entry{Path: "a", Kind: link, Target: "a\x00"}),
		"no hash":                     in(entry{Path: "a"}),
		"another kind":                in(entry{Path: "a", Kind: "device"}),
		"a negative size":             in(entry{Path: "a", Hash: aHash, Size: -1}),
		"no such pack":                in(entry{Path: "a", Hash: aHash, Size: 1, Pack: 1}),
		"a negative pack":             in(entry{Path: "a", Hash: aHash, Size: 1, Pack: -1}),
		"behind its pack":             in(entry{Path: "a", Hash: aHash, Size: 1, At: 10}),
		"before its pack":             in(entry{Path: "a", Hash: aHash, Size: 1, At: -1}),
		"more than its packs":         in(entry{Path: "a", Hash: aHash, Size: 10, At: 1}),
		"no date":                     in(entry{Path: "a", Hash: aHash, Modified: 1 << 60}),
		"an empty pack":               {Packs: []pack{packOf(0)}},
		"too large a pack":            {Packs: []pack{packOf(packBytes + 1)}},
		"a pack twice":                {Packs: []pack{packOf(1), packOf(1)}},
		"a pack's name":               {Packs: []pack{{"../head", 1}}},
	} {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(text); err == nil {
			t.Errorf("%s: %s is taken", name, text)
		}
	}
	if _, err := decode([]byte(`{"packs":[{"id":"01234567-aaaaaaaaaaaaaaaa","size":10}],"files":[{"p":"a","k":"d"},{"p":"a/b","s":10,"h":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}]}`)); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for _, text := range []string{`{}`, `{"version":2}`, `x`, `{"version":1,"parts":["../x"]}`} {
		if _, err := readHead([]byte(text)); err == nil {
			t.Errorf("the head %s is taken", text)
		}
	}
}

// FuzzList guards that following a list, whatever is in it, neither fails in another way
// than by an error nor touches anything outside of the folder.
func FuzzList(f *testing.F) {
	for _, seed := range []string{
		`{"packs":[{"id":"01234567-aaaaaaaaaaaaaaaa","size":10}],"files":[{"p":"a","k":"d"},{"p":"a/b","s":10,"h":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}]}`,
		`{"files":[{"p":"a","k":"l","t":"../outside"},{"p":"b","h":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}]}`,
		`{"files":[{"p":"..","k":"d"}]}`, `{"files":[{"p":"a","k":"l","t":"/"},{"p":"a/b","k":"d"}]}`,
	} {
		f.Add([]byte(seed))
	}
	above := f.TempDir()
	host := filepath.Join(above, "host")
	if err := os.Mkdir(host, 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(text)
		if err != nil {
			return
		}
		if again := m.withoutUnused(); again.validate() != nil || len(again.Files) != len(m.Files) {
			t.Fatalf("a good list is none without unused packs: %s", text)
		}
		for _, e := range m.Files {
			_, _ = m.find(e.Path)
		}
		k := &known{stamps: map[string]rooted.Stamp{}}
		where := Folder{Host: host, Sole: true, MaxBytes: 1 << 20, MaxFiles: 1000}
		l, err := look(where, k)
		if err != nil {
			t.Fatal(err)
		}
		defer l.dir.Close()
		made := &taking{local: l, f: where, kept: m, fetch: fetcher{packs: m.Packs, held: 0, data: bytes.Repeat([]byte{1}, packBytes)}}
		for i := range m.Packs {
			if i > 0 {
				return // there is one to read from
			}
		}
		made.fetch.data = made.fetch.data[:max(1, sum(m.Packs))]
		_ = made.removeAll()
		_ = made.placeAll(t.Context())
		if all, err := os.ReadDir(above); err != nil || len(all) != 1 {
			t.Fatalf("outside there is %v, %v", all, err)
		}
		_ = os.RemoveAll(host)
		_ = os.Mkdir(host, 0o700)
	})
}

func sum(packs []pack) (n int) {
	for _, p := range packs {
		n += p.Size
	}
	return n
}

func BenchmarkDecode(b *testing.B) {
	m := manifest{}
	for i := range 1000 {
		m.Files = append(m.Files, entry{Path: fmt.Sprintf("file%06d", i), Hash: aHash})
	}
	text, err := json.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
