# Looks from within a sandbox for what must not be possible there. Its result
# counts the probes and names those that succeeded.
import ctypes, os, platform, resource, socket

probes, found = 0, []


def probe(name, attempt):
    """Attempt something forbidden; it must raise."""
    global probes
    probes += 1
    try:
        attempt()
    except (OSError, ValueError):
        return
    found.append(name)


def require(name, holds):
    global probes
    probes += 1
    if not holds:
        found.append(name)


# The network: no family but unix, no interface that leads anywhere.
for family in range(46):
    if family != socket.AF_UNIX:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            probe(f"a socket of family {family} can be made", lambda: socket.socket(family, kind, 0).close())
with open("/proc/net/route") as routes:
    require("there is a route to somewhere", len(routes.readlines()) <= 1)

# The file system.
for folder in ("/", "/etc", "/usr", "/usr/lib", "/var", "/bridge", "/home", "/opt", "/dev", "/dev/shm", "/dev/mqueue"):
    probe(f"{folder} can be written", lambda: os.close(os.open(folder + "/airlock-probe", os.O_CREAT | os.O_WRONLY)))
for name in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
    probe(f"{name} can be written", lambda: os.close(os.open(name, os.O_WRONLY)))
for name in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"):
    require(f"the sandbox has {name}", not os.path.exists(name))


def run_from(path):
    with open(path, "wb") as f:
        f.write(b"#!/bin/true\n")
    os.chmod(path, 0o755)
    os.posix_spawn(path, [path], {})


def set_user_bit():
    with open("/tmp/airlock-setuid", "wb"):
        os.chmod("/tmp/airlock-setuid", 0o4755)


probe("/tmp runs programs", lambda: run_from("/tmp/airlock-probe"))
probe("files can be made to run as their owner", set_user_bit)

# Privileges.
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    require(f"{capabilities} is not empty", int(status.get(capabilities, "0"), 16) == 0)
require("privileges can be gained", status.get("NoNewPrivs", "").strip() == "1")
require("scripts run as root", 0 not in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()))
probe("the supervisor's environment can be read", lambda: os.close(os.open("/proc/1/environ", os.O_RDONLY)))

# System calls, by number: the arguments are such that success would do no harm.
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "x86_64": {"unshare": (272, 0x10000000), "setns": (308, -1, 0), "mount": (165, 0, 0, 0, 0, 0), "ptrace": (101, 0, 0, 0, 0),
               "process_vm_readv": (310, 1, 0, 0, 0, 0, 0), "add_key": (248, b"user", b"airlock", b"x", 1, -2),
               "keyctl": (250, 0, -3, 1), "bpf": (321, 0, 0, 0), "perf_event_open": (298, 0, 0, -1, -1, 0),
               "io_uring_setup": (425, 1, 0), "userfaultfd": (323, 1), "shmget": (29, 0, 4096, 0o1600),
               "msgget": (68, 0, 0o1600), "semget": (64, 0, 1, 0o1600), "pivot_root": (155, b"/", b"/"), "mknod": (133, b"/tmp/airlock-node", 0o10600, 0)},
    "aarch64": {"unshare": (97, 0x10000000), "setns": (268, -1, 0), "mount": (40, 0, 0, 0, 0, 0), "ptrace": (117, 0, 0, 0, 0),
                "process_vm_readv": (270, 1, 0, 0, 0, 0, 0), "add_key": (217, b"user", b"airlock", b"x", 1, -2),
                "keyctl": (219, 0, -3, 1), "bpf": (280, 0, 0, 0), "perf_event_open": (241, 0, 0, -1, -1, 0),
                "io_uring_setup": (425, 1, 0), "userfaultfd": (282, 1), "shmget": (194, 0, 4096, 0o1600),
                "msgget": (186, 0, 0o1600), "semget": (190, 0, 1, 0o1600), "pivot_root": (41, b"/", b"/")},
}
EPERM, ENOSYS = 1, 38
for name, call in CALLS.get(platform.machine(), {}).items():
    ctypes.set_errno(0)
    answer = libc.syscall(*call)
    require(f"the system call {name} is not refused", answer == -1 and ctypes.get_errno() in (EPERM, ENOSYS))

# Limits.
require("there is no limit of open files", resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 1024)
require("there is no limit of a file's size", resource.getrlimit(resource.RLIMIT_FSIZE)[1] != resource.RLIM_INFINITY)
for kind, names in {
    "memory": ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "processes": ("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"),
}.items():
    for name in names:
        if os.path.exists(name):
            text = open(name).read().strip()
            require(f"there is no limit of {kind}", text != "max" and int(text) < 1 << 50)

# The one way out, and the host's folder.
with open("/workspace/airlock-probe", "w") as f:
    f.write("here")
with socket.socket(socket.AF_UNIX) as bridge:
    bridge.settimeout(5)
    bridge.connect("/bridge/bridge.sock")
    bridge.sendall(b"GET /v1/isolation HTTP/1.1\r\nHost: bridge\r\nConnection: close\r\n\r\n")
    require("the bridge does not answer", b" 204 " in bridge.recv(4096))

result = {"probes": probes, "found": found}
