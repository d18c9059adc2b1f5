package detect

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	d := newDetector(t, Options{})
	n := map[Type]int{}
	bytes := 0
	seen := map[string]bool{}
	for _, root := range strings.Fields(os.Getenv("ZZ")) {
		filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			i, _ := e.Info()
			if i.Size() > 1<<20 || bytes > 150<<20 {
				return nil
			}
			b, _ := os.ReadFile(p)
			if strings.Contains(string(b[:min(512, len(b))]), "\x00") {
				return nil
			}
			bytes += len(b)
			s, _ := d.Find(nil, b)
			for _, x := range s {
				n[x.Type]++
				v := string(b[x.Start:x.End])
				if seen[v] || x.Type == "EMAIL" {
					continue
				}
				seen[v] = true
				t.Logf("%s|%.60q|%.120q|%s", x.Type, v, b[max(0, x.Start-40):min(len(b), x.End+20)], filepath.Base(p))
			}
			return nil
		})
	}
	t.Log(bytes, n)
}
