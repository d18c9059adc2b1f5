//go:build !linux

package keeper

import "syscall"

// Supported says whether this system has what Main needs.
const Supported = false

// Main is for Linux; here it fails.
func Main([]string, []string) int { return int(syscall.ENOSYS) }
