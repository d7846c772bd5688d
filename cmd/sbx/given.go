package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// givenWell refuses flags that were given and say nothing. A variable that is not
// set is how they come about: --for "" would make one more sandbox each time, and
// --egress "" would start one without a policy.
func givenWell(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) { // those that were given
		switch {
		case err != nil:
		case saysNothing(f.Value):
			err = usagef("--%s is empty", f.Name)
		case !isPositive(f):
			err = usagef("--%s is positive", f.Name)
		}
	})
	return err
}

func saysNothing(v pflag.Value) bool {
	if list, ok := v.(pflag.SliceValue); ok {
		return len(list.GetSlice()) == 0
	}
	return v.Type() == "string" && strings.TrimSpace(v.String()) == ""
}

// isPositive is about flags that hold a time or a share of something. No --timeout
// at all is --timeout 0.
func isPositive(f *pflag.Flag) bool {
	switch f.Value.Type() {
	case "duration":
		d, err := time.ParseDuration(f.Value.String())
		return err == nil && (d > 0 || d == 0 && f.Name == "timeout")
	case "float64":
		n, err := strconv.ParseFloat(f.Value.String(), 64)
		return err == nil && n > 0
	}
	return true
}
