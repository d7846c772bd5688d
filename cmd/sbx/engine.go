package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// find is the driver of a provider that is built in. Where it reaches a Docker
// Engine and is not told which one, the docker command's current context decides,
// as it does for that command. The adapter itself reads neither contexts nor the
// docker command's configuration.
func (a *app) find(id string) (sandbox.Driver, bool) {
	if a.driver == nil {
		return sandbox.Driver{}, false
	}
	d, ok := a.driver(id)
	if !ok || settingOf(d.Manifest, "DOCKER_HOST") == "" {
		return d, ok
	}
	open := d.Open
	d.Open = func(ctx context.Context, s port.Settings) (contract.Adapter, error) {
		s, err := a.contextSettings(d.Manifest, s)
		if err != nil {
			return nil, err
		}
		return open(ctx, s)
	}
	return d, true
}

// contextSettings adds the engine of the current context to s, unless s names one.
func (a *app) contextSettings(m contract.Manifest, s port.Settings) (port.Settings, error) {
	host := settingOf(m, "DOCKER_HOST")
	if !s[host].Value.IsZero() {
		return s, nil
	}
	c, err := a.dockerContext()
	if err != nil || c.host == "" {
		return s, err
	}
	s = maps.Clone(s)
	set := func(key, value string) {
		s[key] = port.Setting{Value: port.NewSecret(value), Source: "the Docker context " + c.name}
	}
	set(host, c.host)
	tls, certs := settingOf(m, "DOCKER_TLS_VERIFY"), settingOf(m, "DOCKER_CERT_PATH")
	if c.certs != "" && tls != "" && certs != "" {
		set(tls, "true")
		set(certs, c.certs)
	}
	return s, nil
}

// settingOf is the key of the setting that a variable holds.
func settingOf(m contract.Manifest, env string) string {
	for _, s := range m.Settings {
		if s.Env == env {
			return s.Key
		}
	}
	return ""
}

// dockerContext is what is used of a context of the docker command.
type dockerContext struct{ name, host, certs string }

// dockerMeta is the part of a context's file that counts here.
type dockerMeta struct {
	Name      string
	Endpoints map[string]struct {
		Host          string
		SkipTLSVerify bool
	}
}

// dockerContext reads the current context: DOCKER_CONTEXT, else the one the
// docker command's configuration names, else none.
func (a *app) dockerContext() (dockerContext, error) {
	dir := a.dockerConfig()
	name := a.getenv("DOCKER_CONTEXT")
	if name == "" && dir != "" {
		var file struct {
			CurrentContext string `json:"currentContext"`
		}
		if err := readJSON(filepath.Join(dir, "config.json"), &file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return dockerContext{}, contextError("the docker command's configuration cannot be read", err)
		}
		name = file.CurrentContext
	}
	if name == "" || name == "default" {
		return dockerContext{}, nil
	}
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta dockerMeta
	if err := readJSON(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return dockerContext{}, contextError("the Docker context "+name+" cannot be read", err)
	}
	end, ok := meta.Endpoints["docker"]
	switch scheme, _, _ := strings.Cut(end.Host, "://"); {
	case !ok || end.Host == "":
		return dockerContext{}, contextError("the Docker context "+name+" names no engine", nil)
	case scheme == "ssh":
		return dockerContext{}, contextError("the Docker context "+name+" is reached by ssh, which sbx does not do: forward its socket and set DOCKER_HOST", nil)
	case end.SkipTLSVerify:
		return dockerContext{}, contextError("the Docker context "+name+" does not verify its engine, which sbx does not do", nil)
	}
	c := dockerContext{name: name, host: end.Host}
	certs := filepath.Join(dir, "contexts", "tls", id, "docker")
	if _, err := os.Stat(certs); err == nil {
		c.certs = certs
	} else if !errors.Is(err, fs.ErrNotExist) {
		return dockerContext{}, contextError("the certificates of the Docker context "+name+" cannot be read", err)
	}
	return c, nil
}

// dockerConfig is the folder of the docker command, "" when there is no home.
func (a *app) dockerConfig() string {
	if dir := a.getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".docker")
	}
	return ""
}

func (a *app) home() string { return or(a.getenv("HOME"), a.getenv("USERPROFILE")) }

func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func contextError(reason string, err error) error {
	return &port.Error{Code: port.CodeInvalidArgument, Op: "Open", Outcome: port.OutcomeUnchanged, Reason: reason, Err: err}
}
