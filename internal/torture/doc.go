// Package torture kills real runs at random moments and at every boundary
// between the ledger and the vendor, and counts what is left after a reap:
// nothing of ours, nothing foreign touched, nothing kept touched. All of it is
// in its test, which `make torture N=300` runs at length.
package torture
