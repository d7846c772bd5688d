package wire

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryPolicy bounds how often a repeatable request is sent. The zero value
// means 4 attempts, waiting from 250 ms up to 10 s between them.
type RetryPolicy struct {
	Attempts int           // sends in all; 1 never repeats, 0 means 4
	Base     time.Duration // first wait; 0 means 250 ms
	Max      time.Duration // longest wait of our own choosing; 0 means 10 s
}

func (p RetryPolicy) filled() RetryPolicy {
	if p.Attempts <= 0 {
		p.Attempts = 4
	}
	if p.Base <= 0 {
		p.Base = 250 * time.Millisecond
	}
	if p.Max <= 0 {
		p.Max = 10 * time.Second
	}
	return p
}

// backoff returns the wait before attempt n+1 (n counts from 1): it doubles,
// and its upper half is random so that callers do not return in step.
func (p RetryPolicy) backoff(n int, jitter float64) time.Duration {
	d := p.Base
	for i := 1; i < n && d < p.Max; i++ {
		d *= 2
	}
	d = min(d, p.Max)
	return d/2 + time.Duration(jitter*float64(d/2))
}

// Clock is where a Client gets time and chance from. A nil field means the
// real thing, so the zero value is the system's clock.
type Clock struct {
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error // returns ctx.Err() when ctx ends first
	Jitter func() float64                                   // in [0,1)
}

func (c Clock) filled() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// RetryAfter reads the header of that name, in seconds or as an HTTP date. It
// returns 0 when it is absent, past or not understood.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if secs, err := strconv.ParseFloat(v, 64); err == nil {
		const longest = 365 * 24 * time.Hour // keeps the conversion from overflowing
		if !(secs > 0) {
			return 0
		}
		if secs >= longest.Seconds() {
			return longest
		}
		return time.Duration(secs * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
