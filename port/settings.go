package port

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one resolved configuration value of a provider, with the place
// it came from so that an error can name what to change.
type Setting struct {
	Value  Secret // every value travels redacted; plain accessors reveal it
	Source string // "option", "default", or the name of an environment variable
}

// Settings are the values a provider is opened with, by configuration key.
// sandbox/ resolves them (option, then environment, then manifest default);
// adapters never read the environment themselves. A missing key is absent.
type Settings map[string]Setting

// String returns the value of key, "" when absent.
func (s Settings) String(key string) string { return s[key].Value.Reveal() }

// Secret returns the value of key without revealing it.
func (s Settings) Secret(key string) Secret { return s[key].Value }

// Bool parses true/false/1/0. An absent key is def.
func (s Settings) Bool(key string, def bool) (bool, error) {
	return parse(s, key, def, "true or false", strconv.ParseBool)
}

// Int parses a decimal integer. An absent key is def.
func (s Settings) Int(key string, def int) (int, error) {
	return parse(s, key, def, "a whole number", strconv.Atoi)
}

// Duration parses a Go duration such as "90s". An absent key is def.
func (s Settings) Duration(key string, def time.Duration) (time.Duration, error) {
	return parse(s, key, def, "a duration such as 90s", time.ParseDuration)
}

// Enum returns the value of key when it is one of allowed. An absent key is def.
func (s Settings) Enum(key, def string, allowed ...string) (string, error) {
	return parse(s, key, def, "one of "+strings.Join(allowed, ", "), func(v string) (string, error) {
		if !slices.Contains(allowed, v) {
			return "", fmt.Errorf("not allowed")
		}
		return v, nil
	})
}

func parse[T any](s Settings, key string, def T, want string, f func(string) (T, error)) (T, error) {
	v, ok := s[key]
	if !ok || v.Value.IsZero() {
		return def, nil
	}
	out, err := f(v.Value.Reveal())
	if err != nil {
		// The value itself is left out: it may be a credential set in the wrong variable.
		return def, &Error{Code: CodeInvalidArgument, Op: "Open", Outcome: OutcomeUnchanged,
			Reason: fmt.Sprintf("setting %q (from %s) must be %s", key, v.Source, want)}
	}
	return out, nil
}
