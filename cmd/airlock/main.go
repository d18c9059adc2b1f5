// Command airlock lets AI agents work by writing scripts: it runs them in a
// sandbox, gives them the tools of MCP servers through one bridge, and keeps
// personal data out of the model's sight. See the README for where to start.
//
// This package parses flags and environment and wires the parts together;
// nothing else.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/joho/godotenv"

	"airlock/runtime/wasm"
	"airlock/servers/keeper"
)

// Exit codes, as every command keeps them.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// workerCommand is the hidden argument that makes this binary a sandbox worker.
const workerCommand = "wasm-worker"

// keeperCommand is the hidden argument that makes this binary the keeper of the
// server whose command line follows.
const keeperCommand = "server-keeper"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are the program's three standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// checked remembers the first failure of its writer, so that a full disk or a
// closed pipe is a failure of the command whatever it printed with.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// commands is the command line. The fields' tags are its documentation.
type commands struct {
	Config `group:"Settings, the same for every command:"`

	Version kong.VersionFlag `help:"Say what this program was built from."`

	Serve   serveCommand   `cmd:"" help:"Serve the HTTP API."`
	MCP     mcpCommand     `cmd:"" name:"mcp" help:"Serve one MCP host over standard input and output."`
	Run     runCommand     `cmd:"" help:"Run a script against the tools, without a model."`
	Task    taskCommand    `cmd:"" help:"Let the agent work on one task."`
	Tools   toolsCommand   `cmd:"" help:"Look at and call the tools of the upstream servers."`
	Skills  skillsCommand  `cmd:"" help:"Look at, save, verify and share skills."`
	Servers serversCommand `cmd:"" help:"Look after the upstream servers."`
	PII     piiCommand     `cmd:"" name:"pii" help:"Find, replace and put back personal data in texts."`
	Keys    keysCommand    `cmd:"" help:"Hand out and revoke the keys of callers."`
	Erase   eraseCommand   `cmd:"" help:"Erase everything of a user."`
	Doctor  doctorCommand  `cmd:"" help:"Say what is configured, what works and what is missing."`
}

// run is main without the process around it.
func run(ctx context.Context, args []string, std streams) int {
	if len(args) == 1 && args[0] == workerCommand {
		return runWorker(ctx)
	}
	if len(args) > 1 && args[0] == keeperCommand {
		return keeper.Main(args[1:], os.Environ())
	}
	out := &checked{Writer: std.out}
	std.out = out
	if err := loadEnvFile(); err != nil {
		fmt.Fprintf(std.err, "airlock: %v\n", err)
		return exitUsage
	}
	var cli commands
	exited := -1
	parser, err := kong.New(&cli,
		kong.Name("airlock"),
		kong.Description("Agents write scripts, airlock runs them: tools behind one bridge, personal data kept from the model."),
		kong.Vars{"version": version()},
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std),
	)
	if err != nil {
		fmt.Fprintf(std.err, "airlock: %v\n", err)
		return exitFailed
	}
	if err := dropEmpty(parser.Model); err != nil {
		fmt.Fprintf(std.err, "airlock: %v\n", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(std.err, "airlock: %v\nTry \"airlock --help\".\n", err)
		return exitUsage
	}
	err = parsed.Run(&cli.Config)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write the result: %w", out.err)
	}
	return exitCode(err, std)
}

// envFileVariable names the file of settings to read in place of .env in the working
// folder, for programs that start airlock in a folder of their own choice.
const envFileVariable = "ENV_FILE"

func envFile() string { return cmp.Or(os.Getenv(envFileVariable), ".env") }

// loadEnvFile reads the settings. Only one that nobody named may be missing.
func loadEnvFile() error {
	err := godotenv.Load(envFile())
	if err == nil || errors.Is(err, os.ErrNotExist) && os.Getenv(envFileVariable) == "" {
		return nil
	}
	return envFileError(err)
}

// envFileError tells why .env cannot be read. The parser's own words repeat what
// stands in the file, which may be a secret.
func envFileError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("read %s: %w", envFile(), err)
	}
	return errors.New("read " + envFile() + ": a line is not NAME=VALUE; names take letters, digits, _ and ., and a quote needs its end")
}

// dropEmpty takes an empty environment variable for one that is not set, as
// people mean it who leave a line of .env without a value.
func dropEmpty(app *kong.Application) error {
	for _, flags := range app.AllFlags(false) {
		for _, flag := range flags {
			for _, name := range flag.Envs {
				if os.Getenv(name) != "" {
					continue
				}
				if err := os.Unsetenv(name); err != nil {
					return fmt.Errorf("unset %s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// usageError marks a wrong use of the program, as opposed to a failure.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(err error, std streams) int {
	var usage usageError
	var refused *apiError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage), errors.As(err, &refused) && refused.usage():
		fmt.Fprintf(std.err, "airlock: %v\n", err)
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailed
	default:
		fmt.Fprintf(std.err, "airlock: %v\n", err)
		return exitFailed
	}
}

// errReported ends a command whose failure its output already tells.
var errReported = errors.New("failed")

func runWorker(ctx context.Context) int {
	if err := wasm.WorkerMain(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "airlock worker: %v\n", err)
		return exitFailed
	}
	return exitOK
}
