package sandboxtest

import "airlock/runtime/sandbox"

// systemCalls defines refused(name), which makes a system call by number and tells
// whether it was refused. The arguments are such that success would do no harm.
const systemCalls = `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {"x86_64": dict(mount=165, unshare=272, ptrace=101, process_vm_readv=310, keyctl=250, bpf=321, perf_event_open=298, io_uring_setup=425, userfaultfd=323, mknod=133),
         "aarch64": dict(mount=40, unshare=97, ptrace=117, process_vm_readv=270, keyctl=219, bpf=280, perf_event_open=241, io_uring_setup=425, userfaultfd=282)}[platform.machine()]
def refused(name, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(CALLS[name], *arguments) == -1 and ctypes.get_errno() in (1, 38)
`

// kernelProbes reach for the kernel, the host and the network.
var kernelProbes = []Probe{
	{1, "the environment", sandbox.JavaScript, `return Object.keys(globalThis.process?.env ?? {}).filter((k) => /TOKEN|SECRET|AIRLOCK/i.test(k))`, nil, fine, `[]`},
	{1, "the first process, as a file", sandbox.JavaScript, `try { return await fs.readFile("/proc/1/environ") } catch (e) { return e.code }`, nil, fine, `"EACCES"`},
	{1, "the environment of the supervisor", sandbox.Python, `
try: result = open("/proc/1/environ", "rb").read().decode()
except OSError as e: result = e.strerror`, nil, fine, `"Permission denied"`},
	{1, "the environment", sandbox.Python, `import os; result = [k for k in os.environ if "TOKEN" in k or "SECRET" in k or "AIRLOCK" in k]`, nil, fine, `[]`},
	{2, "files outside", sandbox.JavaScript, `
const made = [];
for (const p of ["/x", "/etc/x", "/workspace/../etc/x", "/bridge/x", "/opt/airlock/x"]) try { await fs.writeFile(p, "x"); made.push(p) } catch {}
return made`, nil, fine, `[]`},
	{2, "files outside", sandbox.Python, `
result = []
for p in ("/x", "/etc/x", "/usr/x", "/bridge/x", "/opt/airlock/x"):
    try: open(p, "w"); result.append(p)
    except OSError: pass`, nil, fine, `[]`},
	{3, "mount a tmpfs", sandbox.Python, systemCalls + `result = refused("mount", b"none", b"/workspace", b"tmpfs", 0, 0)`, nil, fine, `true`},
	{3, "mount a tmpfs", sandbox.Bash, `mount -t tmpfs none /workspace`, nil, mistake, ""},
	{4, "a user namespace", sandbox.Python, systemCalls + `result = refused("unshare", 0x10000000)`, nil, fine, `true`},
	{4, "a user namespace", sandbox.Bash, `unshare -Ur true`, nil, mistake, ""},
	{5, "the engine's socket", sandbox.JavaScript, `try { return await fs.readFile("/var/run/docker.sock") } catch (e) { return e.code }`, nil, fine, `"EACCES"`},
	{5, "the engine's socket", sandbox.Bash, `test ! -e /var/run/docker.sock && test ! -e /run/docker.sock`, nil, fine, ""},
	{6, "modules that reach out", sandbox.JavaScript, `
const found = [];
for (const m of ["net", "http", "https", "tls", "dgram", "dns", "child_process", "worker_threads"]) try { require(m); found.push(m) } catch {}
try { await fetch("http://169.254.169.254/"); found.push("fetch") } catch {}
return found`, nil, fine, `[]`},
	{6, "sockets of the internet and raw ones", sandbox.Python, `
import socket
result = []
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_PACKET):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: socket.socket(family, kind); result.append([family, kind])
        except OSError as e:
            if e.errno != 1: result.append([family, kind, e.errno])`, nil, fine, `[]`},
	{7, "sockets of every other family", sandbox.Python, `
import socket
result = []
for family in range(46):
    if family != socket.AF_UNIX:
        try: socket.socket(family, socket.SOCK_DGRAM); result.append(family)
        except OSError as e:
            if e.errno != 1: result.append([family, e.errno])`, nil, fine, `[]`},
	{8, "the address of a cloud's metadata", sandbox.Bash, `exec 3<>/dev/tcp/169.254.169.254/80`, nil, mistake, ""},
	{8, "the name of a host", sandbox.Python, `
import socket
try: result = socket.getaddrinfo("example.com", 80)
except OSError: result = "no"`, nil, fine, `"no"`},
	{9, "the memory of others", sandbox.Python, `
import os
result = []
for pid in [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]:
    for name in ("mem", "environ", "maps"):
        try: open(f"/proc/{pid}/{name}", "rb").read(1); result.append(f"{pid}/{name}")
        except OSError: pass`, nil, fine, `[]`},
	{9, "tracing the supervisor", sandbox.Python, systemCalls + `result = [refused("ptrace", 16, 1, 0, 0), refused("process_vm_readv", 1, 0, 0, 0, 0, 0)]`, nil, fine, `[true,true]`},
	{10, "calls into the kernel", sandbox.Python, systemCalls + `
result = [refused("keyctl", 0, -3, 1), refused("bpf", 0, 0, 0), refused("perf_event_open", 0, 0, -1, -1, 0), refused("io_uring_setup", 1, 0), refused("userfaultfd", 1)]`,
		nil, fine, `[true,true,true,true,true]`},
	{11, "settings of the kernel", sandbox.Python, `
result = []
for p in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
    try: open(p, "w"); result.append(p)
    except OSError: pass`, nil, fine, `[]`},
	{12, "programs that lend rights", sandbox.Bash, `! find / -xdev -type f -perm /6000 2>/dev/null | grep -q . && grep -q '^NoNewPrivs:[[:space:]]*1$' /proc/self/status`, nil, fine, ""},
	{12, "make one", sandbox.Bash, `cp /bin/true t && chmod u+s t`, nil, mistake, ""},
	{13, "a device", sandbox.JavaScript, `try { await fs.writeFile("/dev/sda", "x") } catch (e) { return e.code }`, nil, fine, `"EACCES"`},
	{13, "a device", sandbox.Python, `
import os
result = []
for p in ("/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/net/tun"):
    try: os.open(p, os.O_RDWR); result.append(p)
    except OSError: pass
for kind in (0o060600, 0o020600):
    try: os.mknod("/tmp/device", kind, os.makedev(1, 1)); result.append(kind)
    except OSError as e:
        if e.errno != 1: result.append(e.errno)`, nil, fine, `[]`},
}
