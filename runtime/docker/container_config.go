package docker

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"

	"airlock/runtime/docker/seccomp"
	"airlock/runtime/sandbox"
)

// The labels by which containers are found again.
const (
	labelSandbox      = "airlock.sandbox"
	labelInstallation = "airlock.installation"
	labelInstance     = "airlock.instance"
)

const (
	// warmMemory is what a container gets beyond an execution's memory, for the
	// supervisor and warm interpreters, which are not what the killer takes first.
	warmMemory = 256 << 20
	// openFiles bounds the descriptors of a process.
	openFiles = 256
	// leastProcesses is what gVisor's own threads need.
	leastProcesses = 512
	// bridgeFolder is where the container sees its socket.
	bridgeFolder = "/bridge"
	socketName   = "bridge.sock"
)

// sandboxUser is who scripts run as when airlock runs as root, and so the owner
// of the folders they may write. Otherwise they run as airlock's own user.
const sandboxUser = 1000

// user is the container's user. Root is never one.
func user() (uid, gid int) {
	if uid := os.Getuid(); uid > 0 {
		return uid, os.Getgid()
	}
	return sandboxUser, sandboxUser
}

// config is what a container is made with.
func (b *Backend) config(image, socketDir string, folders folders) (*sdk.Config, *sdk.HostConfig) {
	uid, gid := user()
	who := fmt.Sprintf("%d:%d", uid, gid)
	return &sdk.Config{
			Image: image, User: who, Hostname: "sandbox",
			OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
			Labels: map[string]string{
				labelSandbox: "1", labelInstallation: b.o.InstallationID, labelInstance: b.instance.name,
			},
		}, &sdk.HostConfig{
			NetworkMode: "none", DNS: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, // not the host's
			ReadonlyRootfs: true,
			CapDrop:        []string{"ALL"},
			SecurityOpt:    []string{"no-new-privileges:true", "seccomp=" + seccomp.Profile()},
			IpcMode:        "none", // no /dev/shm, which would outlive an execution
			Resources:      b.resources(),
			LogConfig:      sdk.LogConfig{Type: "none"},
			Runtime:        b.o.Runtime,
			Mounts:         b.mounts(socketDir, folders),
			Tmpfs:          b.tmpfs(who, folders),
			MaskedPaths:    maskedPaths,
		}
}

// resources are the container's limits: those that executions cannot change too.
func (b *Backend) resources() sdk.Resources {
	r := resources(b.o.Limits, b.o.Runtime)
	r.Ulimits = []*sdk.Ulimit{
		{Name: "nofile", Soft: openFiles, Hard: openFiles},
		{Name: "fsize", Soft: b.o.FolderBytes, Hard: b.o.FolderBytes},
		{Name: "core", Soft: 0, Hard: 0},
	}
	return r
}

// resources are the limits that an execution can have its own of.
func resources(l sandbox.Limits, runtime string) sdk.Resources {
	memory := l.MemoryBytes + warmMemory
	processes := int64(l.Processes)
	if runtime == "runsc" {
		processes = max(processes, leastProcesses)
	}
	return sdk.Resources{
		Memory: memory, MemorySwap: memory, PidsLimit: &processes,
		CPUPeriod: (100 * time.Millisecond).Microseconds(), CPUQuota: l.CPUQuota.Microseconds(),
	}
}

func (b *Backend) mounts(socketDir string, folders folders) []mount.Mount {
	mounts := []mount.Mount{{Type: mount.TypeBind, Source: socketDir, Target: bridgeFolder, ReadOnly: true}}
	for _, f := range folders {
		mounts = append(mounts, mount.Mount{Type: mount.TypeBind, Source: f.Host, Target: f.Guest, ReadOnly: f.ReadOnly})
	}
	return mounts
}

// tmpfs are the container's own writable folders: /tmp, which is emptied after
// each execution, and those for a script's files where it was given none.
func (b *Backend) tmpfs(who string, folders folders) map[string]string {
	uid, gid, _ := strings.Cut(who, ":")
	options := fmt.Sprintf("rw,noexec,nosuid,nodev,size=%d,nr_inodes=%d,uid=%s,gid=%s,mode=0700", b.o.FolderBytes, b.o.FolderFiles, uid, gid)
	found := map[string]string{"/tmp": options}
	for _, guest := range []string{"/workspace", "/artifacts"} {
		if !slices.ContainsFunc(folders, func(f sandbox.Mount) bool { return f.Guest == guest }) {
			found[guest] = options
		}
	}
	return found
}

// maskedPaths show nothing: what the engine masks by default, and message queues,
// which would outlive an execution.
var maskedPaths = []string{
	"/dev/mqueue",
	"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/key-users",
	"/proc/kmsg", "/proc/latency_stats", "/proc/modules", "/proc/sched_debug", "/proc/schedstat", "/proc/scsi",
	"/proc/timer_list", "/proc/timer_stats",
	"/sys/devices/virtual/powercap", "/sys/firmware", "/sys/kernel/debug", "/sys/kernel/security",
}
