package pii

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"airlock/pii/detect"
)

// mix makes about n bytes of JSON, logs and prose with personal data in them, as
// tools return them.
func mix(n int) string {
	var out strings.Builder
	for i := 0; out.Len() < n; i++ {
		fmt.Fprintf(&out, `{"id":%d,"customer":{"name":"Customer %d","email":"c%d@example.org","phone":"(415) 555-%04d"},"total":%d.%02d,"tags":["north","retail"],"note":"left at the door \"as usual\""}`+"\n", i, i, i%5000, i%10000, i*7%9999, i%100)
		fmt.Fprintf(&out, "2026-03-0%d 12:%02d:%02d INFO order_service request_id=9f1bcd25-a55d-453a-8046-%012d from 198.51.%d.%d took 13.2 ms, status 200\n", i%9+1, i%60, i%60, i, i%100, i%250)
		out.WriteString("The quarterly figures are in the appendix; sales in the north grew while returns fell, and the team expects the same for the coming months. Nothing in this paragraph is about a person.\n")
	}
	return out.String()[:n]
}

func benchVault(b *testing.B) *Vault {
	b.Helper()
	d, err := detect.New(detect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	v, err := NewVault(VaultOptions{Detector: d})
	if err != nil {
		b.Fatal(err)
	}
	return v
}

func BenchmarkTokenize(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		text := mix(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			v := benchVault(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Tokenize(NewRaw(text), OriginUser); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTokenizeNumbers is the costly case: the text has to be followed.
func BenchmarkTokenizeNumbers(b *testing.B) {
	var out strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&out, `%c{"id":%d,"phone":415555%04d,"note":"left at the door \"as usual\""}`, "[,"[min(i, 1)], i, i)
	}
	text := out.String() + "]"
	v := benchVault(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Tokenize(NewRaw(text), OriginUser); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDetect(b *testing.B) {
	text := []byte(mix(1 << 20))
	d, err := detect.New(detect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	var spans []detect.Span
	for b.Loop() {
		if spans, err = d.Find(spans[:0], text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDetokenize(b *testing.B) {
	v := benchVault(b)
	tok, err := v.Tokenize(NewRaw(mix(1<<20)), OriginUser)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(tok.Len()))
	for b.Loop() {
		if _, err := v.Detokenize(tok); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTokenizeLatency reports the 99th percentile for a short text.
func BenchmarkTokenizeLatency(b *testing.B) {
	v := benchVault(b)
	text := mix(1 << 10)
	took := make([]time.Duration, 0, 1<<16)
	for b.Loop() {
		start := time.Now()
		if _, err := v.Tokenize(NewRaw(text), OriginUser); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

func BenchmarkFilter(b *testing.B) {
	v := benchVault(b)
	text := mix(1 << 16)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := v.Filter(NewRaw(text), OriginScript); err != nil {
			b.Fatal(err)
		}
	}
}
