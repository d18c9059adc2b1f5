package sandboxtest

// Attack is a row of the table in docs/SECURITY.md: what is tried, what must come of
// it, and which tests try it. Probes of its number count by themselves.
type Attack struct {
	Number            int
	Attempt, Expected string
	// Everywhere are tests that hold for both backends, as "folder.TestName".
	Everywhere []string
	// Docker and Wasm are tests of one backend.
	Docker, Wasm []string
	// NoDocker and NoWasm say why a script has nothing to try there.
	NoDocker, NoWasm string
}

// Reasons why the embedded sandbox has nothing to try.
const (
	noSystemCalls = "no system calls: the engine imports a dozen functions of ours"
	noProcesses   = "no processes"
	noDescriptors = "no descriptors"
	noSocket      = "no socket: calls go over the worker's pipe"
	noFolders     = "no folders of its own: every file is written by the host"
)

const locked = "runtime/wasm/internal/lockdown.TestLockedProcessCannotReachAnything"

// Attacks are all rows, by number.
func Attacks() []Attack {
	var all []Attack
	for _, group := range [][]Attack{kernelAttacks, resourceAttacks, hostAttacks, bridgeAttacks, runnerAttacks} {
		all = append(all, group...)
	}
	return all
}

var kernelAttacks = []Attack{
	{Number: 1, Attempt: "read the host's or the first process's environment", Expected: "nothing of the host's, no token",
		Wasm: []string{"runtime/wasm.TestWorkerHasNoEnvironmentAndItsOwnGroup"}},
	{Number: 2, Attempt: "create files outside the script's folders", Expected: "refused"},
	{Number: 3, Attempt: "mount a file system", Expected: "EPERM", Wasm: []string{locked}, NoWasm: noSystemCalls},
	{Number: 4, Attempt: "make a user namespace", Expected: "EPERM", Wasm: []string{locked}, NoWasm: noSystemCalls},
	{Number: 5, Attempt: "reach the Docker engine's socket", Expected: "not there"},
	{Number: 6, Attempt: "sockets of the internet, raw and packet sockets", Expected: "EPERM; no module for it", Wasm: []string{locked}},
	{Number: 7, Attempt: "sockets of other families: vsock, netlink and the rest", Expected: "EPERM", Wasm: []string{locked}, NoWasm: noSystemCalls},
	{Number: 8, Attempt: "the gateway, a cloud's metadata, names", Expected: "fail at once", NoWasm: "no network: see 6"},
	{Number: 9, Attempt: "trace or read the memory of other processes", Expected: "EPERM", Wasm: []string{locked}, NoWasm: noSystemCalls},
	{Number: 10, Attempt: "keyctl, bpf, perf, io_uring, userfaultfd", Expected: "EPERM",
		Docker: []string{"runtime/docker/seccomp/generate.TestWhatIsRefused"}, Wasm: []string{locked}, NoWasm: noSystemCalls},
	{Number: 11, Attempt: "write to /proc/sys and /sys", Expected: "refused", NoWasm: noSystemCalls},
	{Number: 12, Attempt: "setuid files", Expected: "none, none can be made; NoNewPrivs is 1",
		Docker: []string{"runtime/docker/seccomp/generate.TestWhatIsNarrowed"}, NoWasm: noProcesses},
	{Number: 13, Attempt: "make or open devices", Expected: "EPERM or not there"},
}

var resourceAttacks = []Attack{
	{Number: 14, Attempt: "fork bombs", Expected: "EAGAIN; the next execution is fine", Wasm: []string{locked}, NoWasm: noProcesses},
	{Number: 15, Attempt: "memory of heap, buffers and children", Expected: "memory, or an error of the script",
		Wasm: []string{"runtime/wasm/internal/quickjs.TestMemoryLimit"}},
	{Number: 16, Attempt: "endless loops, also such that catch everything", Expected: "timeout"},
	{Number: 17, Attempt: "endless work in native code", Expected: "timeout or memory"},
	{Number: 18, Attempt: "endless recursion and nesting", Expected: "an error of the script"},
	{Number: 19, Attempt: "output without end", Expected: "output; what is kept is bounded, and the host's memory stays flat",
		Docker: []string{"runtime/docker.TestFloodsLeaveMemoryFlat"}, Wasm: []string{"runtime/wasm.TestFloodsLeaveMemoryFlat"}},
	{Number: 20, Attempt: "very long lines, bytes that are no text, orders to terminals", Expected: "bounded and escaped"},
	{Number: 21, Attempt: "fill /tmp and /workspace", Expected: "ENOSPC, or killed and trimmed to the quota",
		Everywhere: []string{"workspace.TestQuotas"}, Docker: []string{"runtime/docker.TestAFolderIsKeptToItsQuota"}, NoWasm: noFolders},
	{Number: 22, Attempt: "very many files", Expected: "bounded",
		Everywhere: []string{"workspace.TestQuotas"}, Docker: []string{"runtime/docker.TestAFolderIsKeptToItsQuota"}, NoWasm: noFolders},
	{Number: 23, Attempt: "a sparse file of 1 TB, read by the host", Expected: "refused by its size",
		Everywhere: []string{"workspace.TestHostileFiles"}, Wasm: []string{"runtime/wasm.TestLargeFilesAreNotRead"}, NoWasm: noFolders},
	{Number: 24, Attempt: "a zip bomb", Expected: "never unpacked by the host", Everywhere: []string{"runtime/sandbox/sandboxtest.TestNothingUnpacksArchives"}},
	{Number: 25, Attempt: "open files without end", Expected: "EMFILE", NoWasm: noDescriptors},
}

var hostAttacks = []Attack{
	{Number: 26, Attempt: "a link to a file of the host, read by the host", Expected: "refused",
		Everywhere: []string{"workspace.TestHostileFiles", "workspace.TestWritingReplacesALinkAndNotItsTarget"}},
	{Number: 27, Attempt: "a link swapped during the read", Expected: "refused", Everywhere: []string{"workspace.TestALinkSwappedDuringReadsNeverLeadsOut"}},
	{Number: 28, Attempt: "a hard link, a named pipe, a socket, a device", Expected: "refused, no hang",
		Everywhere: []string{"workspace.TestHostileFiles"}, NoWasm: noFolders},
	{Number: 29, Attempt: "paths with encoded dots and slashes, NUL, absolute, too long", Expected: "400",
		Everywhere: []string{"workspace/rooted.TestNamesThatLeadOutAreRefusedByEveryMethod", "workspace.TestRefusals", "orchestrator/api.TestBadInput"}},
}

var bridgeAttacks = []Attack{
	{Number: 30, Attempt: "remove or replace the bridge's socket", Expected: "EROFS", NoWasm: noSocket},
	{Number: 31, Attempt: "another session's token", Expected: "401, audited", Everywhere: []string{"bridge.TestBadTokens"}},
	{Number: 32, Attempt: "tokens that are expired, cut, unsigned, of another key, or of an ended execution", Expected: "401, audited",
		Everywhere: []string{"bridge.TestBadTokens", "bridge.TestTokenExpires"}},
	{Number: 33, Attempt: "tools outside the scope, and other spellings of their names", Expected: "403 or 404",
		Everywhere: []string{"bridge.TestScope", "bridge.TestOutOfScope", "bridge.TestUnknownToolNamesTheNearest"}},
	{Number: 34, Attempt: "1,000 calls at once, slow clients, bodies without end", Expected: "429, a timeout, 413",
		Everywhere: []string{"bridge.TestThousandCallsAtOnce", "bridge.TestSocketUnderLoad"},
		Docker:     []string{"bridge.TestSlowClients", "bridge.TestSmuggling"}, Wasm: []string{"runtime/wasm.TestBridgeCalls", "runtime/wasm.TestCallsUnderWayCarrySoMuchAndNoMore"}},
	{Number: 35, Attempt: "steal the token from the helpers", Expected: "out of reach in JavaScript; at most the execution's own, which ends with it",
		Everywhere: []string{"runtime/helpers.TestHostIsOutOfReach", "bridge.TestBadTokens"}, Docker: []string{"runtime/docker/image.TestScriptsOfTheImage"}},
	{Number: 36, Attempt: "pollute Object.prototype, then call", Expected: "arguments are checked by the host; the next execution is clean",
		Everywhere: []string{"runtime/helpers.TestHelpersSurviveHostileScripts", "bridge.TestInputSchema"}},
	{Number: 37, Attempt: "redefine what helpers are made of", Expected: "the helpers work on",
		Everywhere: []string{"runtime/helpers.TestHelpersSurviveHostileScripts", "runtime/helpers.TestHelpersCallNothingScriptsCanReplace"}},
}

var runnerAttacks = []Attack{
	{Number: 38, Attempt: "forge the end of the execution", Expected: "it is output, or an error"},
	{Number: 39, Attempt: "kill or stop what runs scripts", Expected: "killed or timeout; the next execution is fine",
		Docker: []string{"runtime/docker/image.TestScriptsOfTheImage"}, Wasm: []string{"runtime/wasm.TestBrokenWorkers", locked}, NoWasm: noProcesses},
	{Number: 40, Attempt: "a daemon", Expected: "gone with the execution", NoWasm: noProcesses},
	{Number: 41, Attempt: "find what the execution before left", Expected: "nothing but files in its folders",
		Docker: suiteTest("runtime/docker"), Wasm: suiteTest("runtime/wasm")},
	{Number: 42, Attempt: "get out through constructors", Expected: "nothing beyond the sandbox", Everywhere: []string{"runtime/helpers.TestHostIsOutOfReach"}},
	{Number: 43, Attempt: "a flood of calls, then the end", Expected: "calls under way are cancelled",
		Everywhere: []string{"bridge.TestRevokeCancelsPendingCalls"}, Docker: []string{"runtime/docker.TestCallsEndWithTheirExecution"}},
	{Number: 44, Attempt: "headers twice, smuggled requests", Expected: "400", Docker: []string{"bridge.TestSmuggling"}, NoWasm: noSocket},
	{Number: 45, Attempt: "take away the right to its own folder", Expected: "the next execution has it again",
		Docker: []string{"runtime/docker.TestAScriptThatClosesItsFolderHarmsNoOther"}, NoWasm: noFolders},
	{Number: 46, Attempt: "change the limits of other processes", Expected: "EPERM",
		Docker: []string{"runtime/docker/seccomp/generate.TestWhatIsNarrowed"}, Wasm: []string{locked}, NoWasm: noProcesses},
}

// suiteTest is the test by which a backend runs this suite.
func suiteTest(folder string) []string { return []string{folder + ".TestBackendPassesTheSuite"} }
