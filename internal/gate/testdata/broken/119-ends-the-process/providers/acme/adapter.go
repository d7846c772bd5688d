// Package acme is a provider.
package acme

import (
	"fmt"
	"log"
)

// Adapter drives Acme.
type Adapter struct{}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		log.Fatal(err)
	}
	panic("unreachable")
}
