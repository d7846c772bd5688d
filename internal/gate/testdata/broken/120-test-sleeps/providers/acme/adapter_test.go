package acme_test

import (
	"testing"
	"time"
)

func TestA(t *testing.T) {
	time.Sleep(time.Second)
}
