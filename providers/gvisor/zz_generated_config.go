package gvisor

// Config is what the adapter is opened with. The zero value talks to the local
// engine and its runtime "runsc".
type Config struct {
	// Host is the engine's address: unix:///path, tcp://host:port or
	// npipe:////./pipe/name. Empty is the platform's local engine.
	Host string
	// TLSVerify connects with TLS and verifies the engine's certificate. It
	// needs CertPath.
	TLSVerify bool
	// CertPath is the folder with ca.pem, cert.pem and key.pem.
	CertPath string
	// APIVersion fixes the version of the Engine API; empty negotiates it.
	APIVersion string
	// Runtime is the name under which the engine has runsc; empty is "runsc".
	Runtime string
}
