// Package keeper is the program between airlock and a server that speaks over
// standard input and output, so that nothing the server starts outlives it.
//
// A process group is not enough for that: a wrapper may start the real server in
// a session of its own, and when airlock itself is killed only its own children
// learn of it. The keeper is a process whose descendants are by construction
// the server's: as their subreaper (prctl(2)) it inherits what loses its parent,
// and it kills and reaps all of them when the server's first process ends, when
// it is told to, and when airlock dies. Messages do not pass through it: the
// server has the pipes themselves.
//
// Main is the keeper; Report is what it tells on the pipe that it finds as file
// descriptor ReportFD. It works on Linux only; Supported says so.
//
// It is no sandbox: a server that means to can end its keeper. It then dies
// too, but what it started in other sessions stays.
package keeper

import "syscall"

// ReportFD is the descriptor that a keeper writes its report to.
const ReportFD = 3

// KillSignal makes a keeper kill everything it keeps and end. It is also what
// airlock's death should send it (Pdeathsig).
const KillSignal = syscall.SIGHUP

// MemoryFlag may stand before the command, followed by the number of bytes that
// all processes of it together may have. Who has more is killed within a fraction
// of a second.
const MemoryFlag = "-memory"
