package keeper

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// parents tells the parent of every process that can be seen; nil if none can.
func parents() map[int]int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]int, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all[pid] = parentOf(pid)
		}
	}
	return all
}

// parentOf reads the fourth field of /proc/PID/stat. The second, a name in
// parentheses, may hold anything.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return -1
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return -1
	}
	return parent
}

// used is the memory of all that descends from this process, in bytes: what it
// wrote to and what it shares without a file. Files that are mapped can be
// dropped, and do not count.
func used() uint64 {
	self, all := os.Getpid(), parents()
	total := uint64(0)
	for pid := range all {
		if descends(pid, self, all) {
			total += memoryOf(pid)
		}
	}
	return total
}

func descends(pid, from int, all map[int]int) bool {
	for range len(all) { // a number may have been given anew meanwhile, and make a circle
		parent, ok := all[pid]
		if !ok || parent == pid {
			return false
		}
		if parent == from {
			return true
		}
		pid = parent
	}
	return false
}

// memoryOf reads RssAnon and RssShmem of /proc/PID/status, in kB there.
func memoryOf(pid int) uint64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	total := uint64(0)
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "RssAnon" && string(name) != "RssShmem" {
			continue
		}
		if kB, err := strconv.ParseUint(string(bytes.TrimSuffix(bytes.TrimSpace(value), []byte(" kB"))), 10, 54); err == nil {
			total += kB << 10
		}
	}
	return total
}
