package detect

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"airlock/pii/detect/mix"
)

func benchmarkText(b *testing.B, data []byte) {
	d := newDetector(b, Options{})
	dst, err := d.Find(nil, data)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	start, rounds := cpuTime(), 0
	for b.Loop() {
		if dst, err = d.Find(dst[:0], data); err != nil {
			b.Fatal(err)
		}
		rounds++
	}
	b.ReportMetric(float64(len(data))*float64(rounds)/1e6/(cpuTime()-start).Seconds(), "MB/core-s")
	b.ReportMetric(float64(len(dst)), "spans")
}

// cpuTime is what this process has used: on a shared machine it says more than the
// clock on the wall.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkFind(b *testing.B) {
	const size = 20 << 20
	b.Run("mix", func(b *testing.B) { benchmarkText(b, mix.Text(1, size)) })
	b.Run("json", func(b *testing.B) { benchmarkText(b, mix.JSON(1, size/4)) })
	b.Run("logs", func(b *testing.B) { benchmarkText(b, mix.Logs(1, size/4)) })
	b.Run("prose", func(b *testing.B) { benchmarkText(b, mix.Prose(1, size/4)) })
}

// BenchmarkFindKilobyte reports the 99th percentile for small texts.
func BenchmarkFindKilobyte(b *testing.B) {
	d := newDetector(b, Options{})
	data := mix.Text(1, 1<<20)
	var took []time.Duration
	var dst []Span
	i := 0
	for b.Loop() {
		i = (i + 1009) % (len(data) - 1024)
		start := time.Now()
		dst, _ = d.Find(dst[:0], data[i:i+1024])
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// hostile has long runs of everything that starts a candidate.
func hostile() map[string]string {
	runs := map[string]string{}
	for name, unit := range map[string]string{
		"digits": "1", "spaced": "1 ", "dashed": "1-", "dotted": "1.", "colons": ":", "hex-colons": "a:", "at": "@", "local-at": "a@",
		"dashes": "-", "equals": "a=", "words": "phone ", "labelled": "phone 1 ", "keys": `"phone":1,`, "names": `"name":"Ada Byron",`,
		"backslashes": `\`, "escapes": `\u0040`, "percent": "%40", "percents": "%25", "zero-width": "\u200b", "combining": "1\u0303",
		"full-width": "１", "quotes": `"`, "brackets": "[1", "spaces": " ", "underscores": "A_1_", "tokens": "[EMAIL_1_k7q2f]",
		"parens": "(1) ", "plus": "+1", "jwt": "eyJ1.", "pem": "-----BEGIN PRIVATE KEY-----", "labels": "name: ", "passwords": "password=a1-",
		"urls": "://a:b@", "cards": "4111111111111111,", "numbers": "[4111111111111111],",
	} {
		runs[name] = unit
	}
	return runs
}

// BenchmarkHostile shows in MB/s that no run of a trigger is quadratic: the two
// sizes must be alike.
func BenchmarkHostile(b *testing.B) {
	for name, unit := range hostile() {
		for _, size := range []int{64 << 10, 512 << 10} {
			b.Run(name+map[bool]string{true: "/64K", false: "/512K"}[size == 64<<10], func(b *testing.B) {
				benchmarkText(b, []byte(strings.Repeat(unit, size/len(unit))))
			})
		}
	}
}
