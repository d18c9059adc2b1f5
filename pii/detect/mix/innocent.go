package mix

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Innocent are n lines of data that has numbers and names in it, but nobody's: of
// shops, builds, logs, code. The same seed gives the same.
func Innocent(seed uint64, n int) []string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7))}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = innocent[i%len(innocent)](g)
	}
	return lines
}

const hexDigits = "0123456789abcdef"

func (g *generator) version() string {
	return fmt.Sprintf("%d.%d.%d", g.r.IntN(20), g.r.IntN(100), g.r.IntN(1000))
}

func (g *generator) epoch(digits int) string {
	return strconv.Itoa(1_400_000_000+g.r.IntN(500_000_000)) + g.digits(digits-10)
}

// product is the name of a thing.
func (g *generator) product() string {
	return g.pick(strings.Fields("Wireless Steel Oak Ultra Compact Classic Deluxe Organic")) + " " +
		g.pick(strings.Fields("Mouse Desk Lamp Bottle Keyboard Chair Coffee Backpack Jacket"))
}

// innocent makes one line each.
var innocent = []func(*generator) string{
	func(g *generator) string {
		return fmt.Sprintf(`{"id":%s,"sku":"%s-%s","name":"%s","price":%d.%s,"stock":%d,"ean":"%s","created_at":%s}`, g.digits(10), g.from(uppers, 2), g.digits(6), g.product(), g.r.IntN(900), g.digits(2), g.r.IntN(999), "40"+g.digits(11), g.epoch(10))
	},
	func(g *generator) string {
		return fmt.Sprintf(`{"order_id":"%s-%s-%s","invoice":"INV-%s","tracking_number":"1Z%s%s","total":%s.00}`, g.digits(3), g.digits(7), g.digits(7), g.digits(8), g.from(uppers, 6), g.digits(10), g.digits(5))
	},
	func(g *generator) string {
		return fmt.Sprintf("%s INFO request_id=%s trace_id=%s span_id=%s status=200 duration_ms=%s bytes=%s", g.time(), g.uuid(), g.from(hexDigits, 32), g.from(hexDigits, 16), g.digits(4), g.digits(9))
	},
	func(g *generator) string {
		return fmt.Sprintf("commit %s\nindex %s..%s 100644\n@@ -%s,7 +%s,9 @@", g.from(hexDigits, 40), g.from(hexDigits, 10), g.from(hexDigits, 10), g.digits(4), g.digits(4))
	},
	func(g *generator) string {
		return fmt.Sprintf(`"%s": "^%s", "resolved %s", "integrity": "sha512-%s=="`, g.from(lowers, 8), g.version(), g.version(), g.from(uppers+lowers+"0123456789+/", 86))
	},
	func(g *generator) string {
		return fmt.Sprintf("image registry.internal:5000/app@sha256:%s tag v%s-rc.%d build %s.%d", g.from(hexDigits, 64), g.version(), g.r.IntN(9), g.version(), g.r.IntN(99))
	},
	func(g *generator) string {
		return fmt.Sprintf(`{"ts":%s,"ts_ns":%s,"lat":%d.%s,"lon":-%d.%s,"seq":%s,"offset":%s}`, g.epoch(13), g.epoch(19), g.r.IntN(89), g.digits(7), g.r.IntN(179), g.digits(8), g.digits(12), g.digits(10))
	},
	func(g *generator) string {
		return fmt.Sprintf("const limit = 0x%s; // see issue #%s, RFC %s, port %s, %s%%", g.from(hexDigits, 8), g.digits(5), g.digits(4), g.digits(4), g.digits(2))
	},
	func(g *generator) string {
		return fmt.Sprintf("| %s | %s | %s.%s | %s,%s,%s | 20%s-1%d-2%d |", g.product(), g.digits(7), g.digits(4), g.digits(2), g.digits(1), g.digits(3), g.digits(3), g.digits(2), g.r.IntN(3), g.r.IntN(9))
	},
	func(g *generator) string {
		return fmt.Sprintf("pod/api-%s-%s Running 0 %sd node-%s 10%%, uid %s", g.from(hexDigits, 10), g.from(lowers, 5), g.digits(2), g.digits(4), g.uuid())
	},
	func(g *generator) string {
		return fmt.Sprintf("Order %s of %s pieces shipped on 1%d.0%d.202%d, batch %s, part no. %s-%s-%s", g.digits(9), g.digits(4), g.r.IntN(9), 1+g.r.IntN(8), g.r.IntN(6), g.digits(12), g.digits(4), g.digits(3), g.digits(2))
	},
	func(g *generator) string {
		return fmt.Sprintf("isbn 978-%s-%s-%s-%s doi 10.%s/j.%s.%s.%s issn %s-%s", g.digits(1), g.digits(4), g.digits(4), g.digits(1), g.digits(4), g.from(lowers, 5), g.digits(4), g.digits(3), g.digits(4), g.digits(4))
	},
	func(g *generator) string {
		return fmt.Sprintf(`{"file_name":"%s.pdf","host":"db-%s","path":"/v1/orders/%s","title":"%s","color":"#%s","ratio":%s.%s,"balance":-%s}`, g.from(lowers, 6), g.digits(2), g.digits(8), g.product(), g.from(hexDigits, 6), g.digits(1), g.digits(16), g.digits(8))
	},
	func(g *generator) string {
		return fmt.Sprintf("func Test%s%s(t *testing.T) { want := []int{%s, %s, %s}; got := f(%s.%s) }", strings.ToUpper(g.from(lowers, 1)), g.from(lowers, 7), g.digits(3), g.digits(2), g.digits(4), g.digits(2), g.digits(9))
	},
	func(g *generator) string {
		return fmt.Sprintf("https://shop.example/p/%s?variant=%s&ref=%s-%s#t=%s", g.digits(8), g.digits(14), g.digits(4), g.digits(5), g.digits(3))
	},
	func(g *generator) string {
		return fmt.Sprintf("Chrome/1%s.0.%s.%s Safari/537.36, kernel %s-%d-generic, driver %s.%s", g.digits(2), g.digits(4), g.digits(3), g.version(), g.r.IntN(99), g.version(), g.digits(4))
	},
}
