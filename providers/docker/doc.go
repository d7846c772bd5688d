// Package docker runs sandboxes as containers of a Docker Engine.
//
// A sandbox is one container whose main process is a sleeping shell; commands
// are execs in it. The image therefore needs /bin/sh and the usual POSIX tools
// (cat, mkdir, mv, rm, chmod, wc, stat, find, readlink); a busybox or
// distribution image has them.
//
// Files go through commands and not through the Engine's archive endpoints:
// those work on the container's root file system as the host sees it, which is
// not what a process sees that lives behind a mount or behind a kernel of its
// own (gVisor never shows such a write).
package docker
