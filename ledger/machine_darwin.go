package ledger

import "golang.org/x/sys/unix"

// machineID is not known: no system call that Go may use names the machine
// (kern.uuid names the kernel's build).
func machineID() string { return "" }

// bootID changes with every boot; "" when it cannot be read.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
