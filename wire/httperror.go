package wire

import (
	"fmt"
	"strconv"
)

// ResponseError is an error answer of a vendor, found with errors.AsType in the
// *port.Error that Client returns. Its texts are redacted, then cut.
type ResponseError struct {
	Method     string
	Path       string // without query
	Status     int
	VendorCode string // as the vendor wrote it, "" when it gave none
	Message    string // the vendor's text, at most 1 KiB
	Body       []byte // the start of the body, at most 8 KiB
}

// Error renders method, path, status, code and message.
func (e *ResponseError) Error() string {
	s := e.Method + " " + e.Path + ": HTTP " + strconv.Itoa(e.Status)
	if e.VendorCode != "" {
		s += " " + e.VendorCode
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// MalformedError is a success answer that cannot be used: not JSON, null, cut
// short, over the size cap, or refused by the result's Validate method. It is
// never turned into an empty value.
type MalformedError struct {
	Method string
	Path   string
	Status int
	Err    error // what is wrong with it, redacted
}

// Error renders method, path, status and the cause.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("%s %s: HTTP %d with an unusable body: %v", e.Method, e.Path, e.Status, e.Err)
}

// Unwrap returns the cause.
func (e *MalformedError) Unwrap() error { return e.Err }

// TooLargeError says that a body exceeded its cap.
type TooLargeError struct {
	Limit int64 // bytes
}

// Error renders the cap.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("more than the allowed %d bytes", e.Limit)
}

// RedirectError is a redirect that was not followed, because it leaves the host
// (the credentials would leave with it) or because there were too many.
type RedirectError struct {
	From string // scheme://host
	To   string // scheme://host
}

// Error renders both hosts.
func (e *RedirectError) Error() string {
	if e.From == e.To {
		return "too many redirects on " + e.From
	}
	return "refused a redirect from " + e.From + " to " + e.To
}
