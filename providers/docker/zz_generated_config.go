package docker

// Config is what the adapter is opened with. The zero value talks to the local
// engine with the engine's own network and runtime.
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
	// Network is the container network; empty is the engine's default.
	Network string
	// Runtime is the OCI runtime; empty is the engine's default.
	Runtime string
}
