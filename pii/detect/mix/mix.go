// Package mix generates text like that which crosses airlock: results of tools in
// JSON, log lines and prose, with personal data strewn in. The same seed gives the
// same bytes, so that benchmarks compare.
package mix

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Text is about size bytes: half JSON, three tenths logs, the rest prose.
func Text(seed uint64, size int) []byte {
	g := generator{r: rand.New(rand.NewPCG(seed, 1))}
	for g.out.Len() < size {
		switch n := g.r.IntN(10); {
		case n < 5:
			g.json()
		case n < 8:
			g.logs()
		default:
			g.prose()
		}
	}
	return []byte(g.out.String())
}

// JSON is about size bytes of JSON objects, one a line.
func JSON(seed uint64, size int) []byte {
	g := generator{r: rand.New(rand.NewPCG(seed, 2))}
	for g.out.Len() < size {
		g.json()
	}
	return []byte(g.out.String())
}

// Logs is about size bytes of log lines.
func Logs(seed uint64, size int) []byte {
	g := generator{r: rand.New(rand.NewPCG(seed, 3))}
	for g.out.Len() < size {
		g.logs()
	}
	return []byte(g.out.String())
}

// Prose is about size bytes of sentences.
func Prose(seed uint64, size int) []byte {
	g := generator{r: rand.New(rand.NewPCG(seed, 4))}
	for g.out.Len() < size {
		g.prose()
	}
	return []byte(g.out.String())
}

type generator struct {
	r   *rand.Rand
	out strings.Builder
}

var words = strings.Fields(`the a of to and in that is for on with as by it from this be are was at or an will which can has have not
report customer order meeting project quarter shipping invoice delay request server update release change review contract result table
value summary number please team called message before after during under between without about because however therefore usually
naïve café größer señor démarche über`)

var firsts = strings.Fields("Ada Bruno Clara Dmitri Elena Farid Grace Hiro Ines Jonas Kavita Lars Mina Nadia Omar Priya")
var lasts = strings.Fields("Okafor Lindqvist Quintero Tanaka Moreau Hansen Novak Ivanov Rossi Schmidt Silva Kumar")

func (g *generator) pick(list []string) string { return list[g.r.IntN(len(list))] }

func (g *generator) email() string {
	return strings.ToLower(g.pick(firsts)) + "." + strings.ToLower(g.pick(lasts)) + "@example.org"
}

func (g *generator) phone() string {
	return fmt.Sprintf("%d-555-%04d", 200+g.r.IntN(700), g.r.IntN(10000))
}

func (g *generator) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", g.r.Uint32(), g.r.IntN(1<<16), g.r.IntN(1<<12), g.r.IntN(1<<12), g.r.Uint64()>>16)
}

func (g *generator) time() string {
	return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+g.r.IntN(12), 1+g.r.IntN(28), g.r.IntN(24), g.r.IntN(60), g.r.IntN(60), g.r.IntN(1000))
}

func (g *generator) sentence(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.pick(words))
	}
	return b.String()
}

func (g *generator) json() {
	fmt.Fprintf(&g.out, `{"id":%d,"uuid":"%s","created_at":"%s","status":"active","amount":%d.%02d,"currency":"EUR","category":"%s","note":"%s",`,
		g.r.IntN(1_000_000), g.uuid(), g.time(), g.r.IntN(5000), g.r.IntN(100), g.pick(words), g.sentence(6+g.r.IntN(20)))
	if g.r.IntN(3) == 0 {
		fmt.Fprintf(&g.out, `"customer":{"name":"%s %s","email":"%s","phone":"%s"},`, g.pick(firsts), g.pick(lasts), g.email(), g.phone())
	}
	fmt.Fprintf(&g.out, `"items":[{"sku":"A-%05d","title":"%s","quantity":%d,"price":%d.5},{"sku":"B-%05d","title":"%s","quantity":%d,"price":%d}],"tags":["%s","%s"],"active":true}`+"\n",
		g.r.IntN(100000), g.sentence(3), g.r.IntN(9), g.r.IntN(900), g.r.IntN(100000), g.sentence(4), g.r.IntN(9), g.r.IntN(900), g.pick(words), g.pick(words))
}

func (g *generator) logs() {
	fmt.Fprintf(&g.out, "%s INFO  api request_id=%s method=GET path=/v1/orders/%d status=200 duration_ms=%d bytes=%d msg=%q\n",
		g.time(), g.uuid(), g.r.IntN(100000), g.r.IntN(900), g.r.IntN(100000), g.sentence(5+g.r.IntN(6)))
	if g.r.IntN(6) == 0 {
		fmt.Fprintf(&g.out, "%s WARN  auth login failed user=%s ip=203.0.113.%d attempts=%d agent=\"Mozilla/5.0 (X11; Linux x86_64) Chrome/131.0.0.0\"\n",
			g.time(), g.email(), g.r.IntN(255), g.r.IntN(9))
	}
}

func (g *generator) prose() {
	s := g.sentence(8 + g.r.IntN(14))
	g.out.WriteString(strings.ToUpper(s[:1]) + s[1:] + ". ")
	switch g.r.IntN(25) {
	case 0:
		fmt.Fprintf(&g.out, "Please call %s %s at %s. ", g.pick(firsts), g.pick(lasts), g.phone())
	case 1:
		fmt.Fprintf(&g.out, "Write to %s by 12 May 2026 about 3 of the %d open points.\n\n", g.email(), g.r.IntN(100))
	}
}
