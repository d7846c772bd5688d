package evidence

import "slices"

// Kind is the sort of a finding. A kind never changes its meaning.
type Kind string

// The kinds. Those of a class are together.
const (
	// The files are what the statement and the catalog say.
	KindMissing    Kind = "missing"    // a file that has to be there is not
	KindExtra      Kind = "extra"      // a file that no subject covers, or that has no place here
	KindDigest     Kind = "digest"     // a file is another one than the statement covers
	KindLink       Kind = "link"       // the statement is another one than the link names
	KindUnreadable Kind = "unreadable" // a file is not what its schema describes

	// Somebody who is trusted says so.
	KindUnsigned     Kind = "unsigned"      // there is no envelope
	KindBadEnvelope  Kind = "bad-envelope"  // it is not as the tool writes it, or holds another statement
	KindUntrustedKey Kind = "untrusted-key" // its key is not listed
	KindBadSignature Kind = "bad-signature" // the listed key did not make the signature
	KindKeyTime      Kind = "key-time"      // the key did not count then, or was withdrawn

	// The records show what the statement says.
	KindProvider   Kind = "provider"    // they are another provider's
	KindRun        Kind = "run"         // they are of different runs
	KindVerdict    Kind = "verdict"     // the run did not pass
	KindMode       Kind = "mode"        // it was not live, or its mode does not follow from the records
	KindNothingRun Kind = "nothing-run" // no check was executed
	KindCoverage   Kind = "coverage"    // checks that are owed have no result, or only a selection was run
	KindNotPassed  Kind = "not-passed"  // a check failed, or an owed one did not pass
	KindCounts     Kind = "counts"      // the summary does not follow from the results
	KindStatistics Kind = "statistics"  // the statistics do not follow from the samples
	KindSamples    Kind = "samples"     // fewer than ten, and not unknown
	KindLedger     Kind = "ledger"      // a ledger is not intact, or may lack records
	KindBalance    Kind = "balance"     // something was made and is not proven gone, leaked, or was foreign
	KindVendor     Kind = "vendor"      // the vendor's side was not as before, or was not counted
	KindTimes      Kind = "times"       // times that cannot all be true

	// They are about what is here now.
	KindAdapter    Kind = "adapter"     // the adapter is another one
	KindClaims     Kind = "claims"      // the manifest claims something else
	KindCore       Kind = "core"        // the core of the contract has another revision
	KindContract   Kind = "contract"    // a supported capability has another revision
	KindStaleCheck Kind = "stale-check" // an owed check, or the suite, has another revision
	KindExpired    Kind = "expired"     // the run is older than MaxAge

	// Nothing in them may be published by mistake.
	KindKnownSecret Kind = "known-secret" // a value that was given to look for
	KindVendorKey   Kind = "vendor-key"   // in the form of a vendor's credential
	KindURLSecret   Kind = "url-secret"   // user and password inside an address
	KindPrivateKey  Kind = "private-key"  // the beginning of a private key
	KindDeepSecret  Kind = "deep-secret"  // by a rule of gitleaks
)

// Class groups kinds by what they put in doubt.
type Class string

// The classes.
const (
	ClassIntegrity Class = "integrity" // the files
	ClassTrust     Class = "trust"     // who says so
	ClassProof     Class = "proof"     // what they show
	ClassCurrency  Class = "currency"  // whether it is about what is here now
	ClassSecrecy   Class = "secrecy"   // whether they may be published
)

// Kinds lists every kind.
func Kinds() []Kind {
	var out []Kind
	for _, c := range []Class{ClassIntegrity, ClassTrust, ClassProof, ClassCurrency, ClassSecrecy} {
		out = append(out, kindsOf(c)...)
	}
	return out
}

func kindsOf(c Class) []Kind {
	switch c {
	case ClassIntegrity:
		return []Kind{KindMissing, KindExtra, KindDigest, KindLink, KindUnreadable}
	case ClassTrust:
		return []Kind{KindUnsigned, KindBadEnvelope, KindUntrustedKey, KindBadSignature, KindKeyTime}
	case ClassProof:
		return []Kind{KindProvider, KindRun, KindVerdict, KindMode, KindNothingRun, KindCoverage, KindNotPassed, KindCounts,
			KindStatistics, KindSamples, KindLedger, KindBalance, KindVendor, KindTimes}
	case ClassCurrency:
		return []Kind{KindAdapter, KindClaims, KindCore, KindContract, KindStaleCheck, KindExpired}
	case ClassSecrecy:
		return []Kind{KindKnownSecret, KindVendorKey, KindURLSecret, KindPrivateKey, KindDeepSecret}
	}
	return nil
}

// Class returns the class of a kind. A run that is kept as a record, failed or
// old, has to be without findings of integrity, trust and secrecy only.
func (k Kind) Class() Class {
	for _, c := range []Class{ClassIntegrity, ClassTrust, ClassCurrency, ClassSecrecy} {
		if slices.Contains(kindsOf(c), k) {
			return c
		}
	}
	return ClassProof
}

// Finding is one reason why evidence does not prove what it should.
type Finding struct {
	Kind Kind
	// File is its slash path from the run's folder; empty for the folder itself.
	File string
	// Pointer leads to the value in a JSON file, as a JSON pointer.
	Pointer string
	// Line in a ledger, from 1; 0 elsewhere.
	Line int
	// Message is one sentence about it, without any secret.
	Message string
}
