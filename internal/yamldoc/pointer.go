package yamldoc

import (
	"net/url"
	"strconv"
	"strings"
)

// Escape returns one reference token of a JSON pointer for a key (RFC 6901).
func Escape(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// Unescape returns the key a reference token stands for; ok is false when the
// token holds a tilde that escapes nothing.
func Unescape(token string) (key string, ok bool) {
	if !strings.Contains(token, "~") {
		return token, true
	}
	for i := 0; i < len(token); i++ {
		if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
			return "", false
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"), true
}

// Join returns the pointer to keys below pointer.
func Join(pointer string, keys ...string) string {
	for _, k := range keys {
		pointer += "/" + Escape(k)
	}
	return pointer
}

// Split returns the keys of a pointer; ok is false when it is not one.
func Split(pointer string) (keys []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	keys = strings.Split(pointer[1:], "/")
	for i, t := range keys {
		if keys[i], ok = Unescape(t); !ok {
			return nil, false
		}
	}
	return keys, true
}

// FromLocation returns the pointer in the form a JSON Schema validator reports
// locations: a pointer as URI fragment, whose tokens are percent-encoded, with
// or without the leading "#".
func FromLocation(location string) (pointer string, ok bool) {
	p, err := url.PathUnescape(strings.TrimPrefix(location, "#"))
	if err != nil {
		return "", false
	}
	_, ok = Split(p)
	return p, ok
}

// index reads a token as an index into a sequence: decimal, no leading zero.
func index(token string) (int, bool) {
	if token == "" || token != "0" && token[0] == '0' || strings.TrimLeft(token, "0123456789") != "" {
		return 0, false
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}
