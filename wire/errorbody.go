package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// VendorError is what a vendor's error body says. Both fields are empty when
// the body is empty or not understood, which real gateways make common.
type VendorError struct {
	Code    string // machine-readable word, such as "instance_not_found"
	Message string // text for people
}

// ParseErrorBody understands the JSON shapes most vendors use:
//
//	{"error": {"code": "c", "message": "m"}}    nested
//	{"error": "c"}                              flat code
//	{"error": "Not Found", "message": "m"}      status text beside a message
//	{"code": "c", "message": "m"}               top level
//	{"code": 404, "error_code": "c", "message": ["m1", "m2"]}
//
// A numeric code repeats the status and is not a vendor code. Anything else
// (HTML of a proxy, an empty or cut body) gives the zero value.
func ParseErrorBody(body []byte) VendorError {
	top := jsonObject(body)
	if top == nil {
		return VendorError{}
	}
	v := VendorError{
		Code:    firstText(top, "error_code", "errorCode", "code"),
		Message: firstText(top, "message", "detail", "error_description"),
	}
	raw := top["error"]
	if nested := jsonObject(raw); nested != nil {
		if c := firstText(nested, "code", "type"); c != "" {
			v.Code = c
		}
		if m := firstText(nested, "message"); m != "" {
			v.Message = m
		}
		return v
	}
	if flat := text(raw); flat != "" {
		if v.Code == "" && isCodeWord(flat) {
			v.Code = flat
		} else if v.Message == "" {
			v.Message = flat
		}
	}
	return v
}

func jsonObject(b []byte) map[string]json.RawMessage {
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return nil
	}
	return m
}

func firstText(m map[string]json.RawMessage, keys ...string) string {
	for _, k := range keys {
		if s := text(m[k]); s != "" {
			return s
		}
	}
	return ""
}

// text reads a string or a list of strings; every other JSON value is "".
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "; ")
	}
	return ""
}

// isCodeWord tells "rate_limited" from "Not Found".
func isCodeWord(s string) bool {
	if len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return s != ""
}
