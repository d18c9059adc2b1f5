//go:build !linux

package lockdown

import "runtime"

func apply() map[string]string {
	const none = "not available on " + runtime.GOOS
	return map[string]string{Limits: none, Landlock: none, Seccomp: none}
}
