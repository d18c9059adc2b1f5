package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// makeProfile takes the denials out of the default filter and narrows the rest.
func makeProfile() ([]byte, error) {
	p := seccomp.DefaultProfile()
	for i := range p.ArchMap {
		p.ArchMap[i].SubArches = nil // a call of another architecture has other numbers
	}
	denied := map[string]bool{}
	var rules []*seccomp.Syscall
	for _, d := range denials {
		for _, name := range d.names {
			if denied[name] {
				return nil, fmt.Errorf("%s is denied twice", name)
			}
			denied[name] = true
		}
		rules = append(rules, refuse(d))
	}
	narrowed := narrowed()
	for _, n := range narrowed {
		denied[n.Names[0]] = true
	}
	for _, rule := range p.Syscalls {
		if rule := reduce(rule, denied); rule != nil {
			rules = append(rules, rule)
		}
	}
	p.Syscalls = append(rules, narrowed...)
	data, err := json.MarshalIndent(p, "", "\t")
	return append(data, '\n'), err
}

// refuse answers EPERM, and says in the file why.
func refuse(d denial) *seccomp.Syscall {
	eperm := uint(unix.EPERM)
	return &seccomp.Syscall{
		LinuxSyscall: specs.LinuxSyscall{Names: d.names, Action: specs.ActErrno, ErrnoRet: &eperm},
		Comment:      d.reason,
	}
}

// reduce takes the denied calls out of a rule; nil if nothing is left of it. Rules
// for capabilities go whole: a sandbox has none.
func reduce(rule *seccomp.Syscall, denied map[string]bool) *seccomp.Syscall {
	if rule.Includes != nil && len(rule.Includes.Caps) > 0 {
		return nil
	}
	left := *rule
	left.Names = slices.DeleteFunc(slices.Clone(rule.Names), func(name string) bool { return denied[name] })
	if len(left.Names) == 0 {
		return nil
	}
	return &left
}

// setID are the mode bits that let a file run as its owner or group. A script must
// not leave such a file in a folder of the host.
const setID = unix.S_ISUID | unix.S_ISGID

// creates are the flags with which opening a file looks at the mode.
const creates = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// narrowed are the calls that are allowed with some arguments only.
func narrowed() []*seccomp.Syscall {
	const unixOnly, noSetID = "no family but unix: not the internet, netlink, vsock or packets", "files never get the setuid and setgid bits"
	return []*seccomp.Syscall{
		allow("limits of its own only, not of the supervisor or of warm interpreters", "prlimit64", equal(0, 0)),
		allow(unixOnly, "socket", equal(0, unix.AF_UNIX)),
		allow(unixOnly, "socketpair", equal(0, unix.AF_UNIX)),
		allow(noSetID, "chmod", without(1, setID)),
		allow(noSetID, "fchmod", without(1, setID)),
		allow(noSetID, "fchmodat", without(2, setID)),
		allow(noSetID, "fchmodat2", without(2, setID)),
		allow(noSetID, "creat", without(1, setID)),
		allow("the mode means nothing where no file is made", "open", without(1, creates)),
		allow(noSetID, "open", without(2, setID)),
		allow("the mode means nothing where no file is made", "openat", without(2, creates)),
		allow(noSetID, "openat", without(3, setID)),
	}
}

func allow(comment, name string, when specs.LinuxSeccompArg) *seccomp.Syscall {
	return &seccomp.Syscall{
		LinuxSyscall: specs.LinuxSyscall{
			Names: []string{name}, Action: specs.ActAllow, Args: []specs.LinuxSeccompArg{when},
		},
		Comment: comment,
	}
}

func equal(argument uint, value uint64) specs.LinuxSeccompArg {
	return specs.LinuxSeccompArg{Index: argument, Value: value, Op: specs.OpEqualTo}
}

// without holds when none of the bits are set.
func without(argument uint, bits uint64) specs.LinuxSeccompArg {
	return specs.LinuxSeccompArg{Index: argument, Value: bits, ValueTwo: 0, Op: specs.OpMaskedEqual}
}
