// Package local is the provider that needs nothing but the machine it runs on.
//
// A sandbox is a folder, <state>/sbx/local/<id>/, with meta.json, root/ (the
// home and working directory of its commands) and tmp/ (their temporary files).
// Nothing runs between commands: a command and everything it started end
// together, so there is no background work, no stop and no suspend.
//
// With isolation "bwrap" (Linux) every command has its own mount, process, IPC
// and host-name namespaces: the host's files are read-only, root/ is /sandbox
// and tmp/ is /tmp, the state directory is hidden. The network, and what the
// caller's user may read on the host, are shared: it keeps a command from
// breaking the machine by accident and is no wall against hostile code.
//
// With isolation "none" a command is an ordinary child process that sees and
// may change whatever the caller may. Its processes are found again by their
// process group and by a mark in their environment (SBX_LOCAL_ID).
//
// Commands get a small environment of their own: PATH, HOME, PWD, TMPDIR and
// what the sandbox and the command were given. Nothing of the caller's
// environment is passed on.
package local
