package ledger

// machineID is the id of this installation; "" when it has none.
func machineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		// systemd writes "uninitialized" on the first boot of an image.
		if id, err := readText(path); err == nil && id != "" && id != "uninitialized" {
			return id
		}
	}
	return ""
}

// bootID changes with every boot of the kernel; "" when it cannot be read.
func bootID() string {
	id, err := readText("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return id
}
