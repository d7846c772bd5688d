package ledger

import "golang.org/x/sys/windows/registry"

// machineID is the id of this installation; "" when it cannot be read.
func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`,
		registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	id, _, err := key.GetStringValue("MachineGuid")
	if closeErr := key.Close(); err != nil || closeErr != nil {
		return ""
	}
	return id
}

// bootID is not known: Windows numbers no boots.
func bootID() string { return "" }
