// Package wire holds what provider adapters share on their way to a vendor:
// an HTTP client with one deadline and honest outcomes, redaction of secrets,
// the encoding of ownership tags, drained listings, tar streams, shell quoting
// and capped output. It knows no vendor; everything vendor-specific is given
// to it as data.
//
// Adapters outside this module may import it. It imports port and the
// standard library only, keeps no state between calls and starts no goroutine
// that outlives a call.
package wire
