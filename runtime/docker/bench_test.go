package docker

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	sdk "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

// measure repeats once and reports the percentiles of its times.
func measure(b *testing.B, once func() time.Duration) {
	b.Helper()
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		times = append(times, once())
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[0].Microseconds())/1000, "min-ms") // what it takes where nothing else runs
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkDockerRun is what "docker run --rm" does with the same image: a container
// for one command. The time is that to the first output.
func BenchmarkDockerRun(b *testing.B) {
	needImage(b)
	api := must(client.New())(b)
	defer api.Close()
	measure(b, func() time.Duration {
		begun := time.Now()
		c, err := api.ContainerCreate(b.Context(), client.ContainerCreateOptions{
			Config:     &sdk.Config{Image: realImage, Entrypoint: []string{"bash", "-c", "echo a"}, AttachStdout: true},
			HostConfig: &sdk.HostConfig{NetworkMode: "none"},
		})
		id := must(c, err)(b).ID
		stream, err := api.ContainerAttach(b.Context(), id, client.ContainerAttachOptions{Stream: true, Stdout: true})
		must(stream, err)(b)
		defer stream.Close()
		_, err = api.ContainerStart(b.Context(), id, client.ContainerStartOptions{})
		must(c, err)(b)
		firstByte(b, stream.Reader)
		took := time.Since(begun)
		_, _ = io.Copy(io.Discard, stream.Reader)
		for { // the engine refuses to kill what is just ending
			if _, err = api.ContainerRemove(b.Context(), id, client.ContainerRemoveOptions{Force: true}); err == nil || b.Context().Err() != nil {
				return took
			}
		}
	})
}

func firstByte(b *testing.B, r *bufio.Reader) {
	b.Helper()
	if _, err := r.ReadByte(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDockerExec is "docker exec" of the same command in a running container.
func BenchmarkDockerExec(b *testing.B) {
	needImage(b)
	api := must(client.New())(b)
	defer api.Close()
	c, err := api.ContainerCreate(b.Context(), client.ContainerCreateOptions{
		Config: &sdk.Config{Image: realImage, Entrypoint: []string{"sleep", "1000"}}, HostConfig: &sdk.HostConfig{NetworkMode: "none"},
	})
	id := must(c, err)(b).ID
	defer func() {
		_, err := api.ContainerRemove(context.Background(), id, client.ContainerRemoveOptions{Force: true})
		must(c, err)(b)
	}()
	_, err = api.ContainerStart(b.Context(), id, client.ContainerStartOptions{})
	must(c, err)(b)
	measure(b, func() time.Duration {
		begun := time.Now()
		x, err := api.ExecCreate(b.Context(), id, client.ExecCreateOptions{Cmd: []string{"bash", "-c", "echo a"}, AttachStdout: true})
		stream, err := api.ExecAttach(b.Context(), must(x, err)(b).ID, client.ExecAttachOptions{})
		must(stream, err)(b)
		defer stream.Close()
		firstByte(b, stream.Reader)
		return time.Since(begun)
	})
}

// BenchmarkCold makes a session with folders and runs its first script.
func BenchmarkCold(b *testing.B) {
	needImage(b)
	d := warmed(b)
	measure(b, func() time.Duration {
		files, _ := workspace(b)
		s := open(b, d)
		x := order("echo a")
		x.Files = files
		begun := time.Now()
		well(b, s, x)
		took := time.Since(begun)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		return took
	})
}

func warmed(b *testing.B) *Backend {
	b.Helper()
	o := real(b)
	o.Log = nil
	d := backend(b, o)
	if err := d.Check(b.Context()); err != nil {
		b.Fatal(err)
	}
	return d
}

func well(b *testing.B, s *session, x sandbox.Execution) {
	b.Helper()
	if r := run(b, s, x); r.Reason != sandbox.ReasonOK {
		b.Fatalf("it ended with %q: %s", r.Reason, message(b, r))
	}
}

var scripts = map[sandbox.Language]struct{ print, call string }{
	sandbox.Bash:       {`echo a`, `mcp call shop__query '{"q":1}'`},
	sandbox.Python:     {`print("a", flush=True)`, `result = call_mcp_tool("shop__query", {"q": 1})`},
	sandbox.JavaScript: {`console.log("a")`, `return await callMCPTool("shop__query", { q: 1 })`},
}

// each runs a benchmark for every language in one warm session.
func each(b *testing.B, f func(b *testing.B, s *session, x sandbox.Execution, call string)) {
	needImage(b)
	d := warmed(b)
	for _, language := range []sandbox.Language{sandbox.Bash, sandbox.Python, sandbox.JavaScript} {
		b.Run(string(language), func(b *testing.B) {
			s := open(b, d)
			x := order(scripts[language].print)
			x.Language = language
			well(b, s, x)
			f(b, s, x, scripts[language].call)
		})
	}
}

// think is the pause between two scripts, less than any model takes. In it the
// supervisor starts the next Node, which takes longer than a script does.
const think = 500 * time.Millisecond

// BenchmarkWarmFirstOutput is the time to the first output in a warm session.
func BenchmarkWarmFirstOutput(b *testing.B) {
	each(b, func(b *testing.B, s *session, x sandbox.Execution, _ string) {
		var begun time.Time
		var took time.Duration
		x.Output = func(sandbox.Stream, pii.Raw) { took = time.Since(begun) }
		measure(b, func() time.Duration {
			<-time.After(think)
			x.ID, begun = ident.NewExecution(), time.Now()
			well(b, s, x)
			return took
		})
	})
}

// BenchmarkWarmToolCall is the time to a result that used one tool call.
func BenchmarkWarmToolCall(b *testing.B) {
	each(b, func(b *testing.B, s *session, x sandbox.Execution, call string) {
		x.Code = call
		x.Bridge = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"content":[],"structuredContent":{"rows":[1,2,3]},"isError":false}`)
		})
		measure(b, func() time.Duration {
			<-time.After(think)
			x.ID = ident.NewExecution()
			begun := time.Now()
			well(b, s, x)
			return time.Since(begun)
		})
	})
}

// roundTrips are scripts that measure a hundred calls of a tool, one after the
// other, and return the median in milliseconds.
var roundTrips = map[sandbox.Language]string{
	sandbox.Python: `
import time
times = []
for _ in range(100):
    begun = time.perf_counter()
    call_mcp_tool("shop__query", {"q": 1})
    times.append(time.perf_counter() - begun)
result = sorted(times)[50] * 1000`,
	sandbox.JavaScript: `
const times = [];
for (let i = 0; i < 100; i++) {
	const begun = performance.now();
	await callMCPTool("shop__query", { q: 1 });
	times.push(performance.now() - begun);
}
return times.sort((a, b) => a - b)[50];`,
}

// BenchmarkBridgeRoundTrip is a call of a tool that answers at once, as a script
// measures it.
func BenchmarkBridgeRoundTrip(b *testing.B) {
	each(b, func(b *testing.B, s *session, x sandbox.Execution, _ string) {
		x.Code, x.Bridge = roundTrips[x.Language], shop
		if x.Code == "" {
			b.Skip("a shell starts a program for each call")
		}
		times := make([]float64, 0, b.N)
		for b.Loop() {
			x.ID = ident.NewExecution()
			r := run(b, s, x)
			times = append(times, must(strconv.ParseFloat(sandboxtest.Text(b, r.Value), 64))(b))
		}
		slices.Sort(times)
		b.ReportMetric(times[0], "min-ms")
		b.ReportMetric(times[len(times)/2], "p50-ms")
	})
}
