// Package secretscan finds what looks like a credential in a text: the forms of
// vendors' keys, addresses with a password, private keys, and, when asked for,
// words too random to be words. It knows no value; wire.Redactor looks for known
// ones. It keeps no state and may be used concurrently.
package secretscan
