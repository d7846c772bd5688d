// Package port is the hand-written ground of the provider contract: the error
// type and its codes, the handles that carry live streams, the outcome of a
// destroy, and the values an adapter is opened with.
//
// Everything else of the contract (operation data, capability interfaces, the
// Table) is generated from schema/ into generated/contract, which builds on
// this package. Adapters import both; applications import sandbox.
package port
