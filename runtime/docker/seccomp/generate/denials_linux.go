package main

// denial is a group of system calls that scripts cannot make, and why.
type denial struct {
	reason string
	names  []string
}

// denials is what the sandbox refuses with EPERM. Some of it the engine's default
// allows; the rest is named so that it stays refused whatever the default becomes.
var denials = []denial{
	{"reads and changes other processes: the supervisor and warm interpreters run as the same user", []string{
		"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
	}},
	{"joins or makes namespaces, and with a user namespace all capabilities within it", []string{
		"setns", "unshare", "pivot_root", "chroot",
	}},
	{"mounts: the file system is what the host made it", []string{
		"mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "open_tree_attr",
		"fsopen", "fsconfig", "fsmount", "fspick",
	}},
	{"rings past which file and network calls are made without this filter", []string{
		"io_uring_setup", "io_uring_enter", "io_uring_register",
	}},
	{"the kernel's key store is shared by containers of one user", []string{
		"keyctl", "add_key", "request_key",
	}},
	{"pauses the kernel in the middle of an access, which makes its races exploitable", []string{
		"userfaultfd",
	}},
	{"programs and counters within the kernel", []string{
		"bpf", "perf_event_open", "lookup_dcookie",
	}},
	{"System V objects outlive their process, and so an execution", []string{
		"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop", "semtimedop_time64",
		"msgget", "msgsnd", "msgrcv", "msgctl", "ipc",
	}},
	{"message queues outlive their process, and so an execution", []string{
		"mq_open", "mq_unlink", "mq_timedsend", "mq_timedsend_time64", "mq_timedreceive",
		"mq_timedreceive_time64", "mq_notify", "mq_getsetattr",
	}},
	{"sockets behind a pointer, where no filter can see their family", []string{
		"socketcall",
	}},
	{"files by number instead of by path, past every mount", []string{
		"name_to_handle_at", "open_by_handle_at",
	}},
	{"watches whole file systems", []string{
		"fanotify_init", "fanotify_mark", "quotactl", "quotactl_fd",
	}},
	{"kernel code that nothing here needs and that had holes before", []string{
		"modify_ldt", "vmsplice", "remap_file_pages", "uselib", "nfsservctl", "vm86", "vm86old",
	}},
	{"the machine's own state", []string{
		"reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
		"swapon", "swapoff", "acct", "settimeofday", "clock_settime", "clock_settime64", "stime",
		"sethostname", "setdomainname", "iopl", "ioperm", "syslog",
	}},
	{"devices, and pipes with a name, at which a reader on the host would hang", []string{
		"mknod", "mknodat",
	}},
	{"its arguments are behind a pointer, so that setuid modes pass unseen; openat does the same", []string{
		"openat2",
	}},
}
