package conformance

import (
	"os"
	"regexp"
	"strings"
)

// scrubber takes names of this machine out of messages: directories, its host name.
type scrubber struct{ r *strings.Replacer }

func newScrubber(stateDir string) *scrubber {
	var pairs []string
	add := func(from, to string) {
		if len(from) > 2 {
			pairs = append(pairs, from, to)
		}
	}
	add(stateDir, "<state>")
	if dir, err := os.Getwd(); err == nil {
		add(dir, "<dir>")
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home, "<home>")
	}
	if host, err := os.Hostname(); err == nil {
		add(host, "<host>")
	}
	return &scrubber{r: strings.NewReplacer(pairs...)}
}

func (s *scrubber) text(m string) string {
	const most = 4 << 10
	m = s.r.Replace(shortPaths(m))
	if len(m) > most {
		m = strings.ToValidUTF8(m[:most], "") + " ..."
	}
	return m
}

// shortPaths keeps the last two elements of the Go files in a stack.
func shortPaths(m string) string {
	return regexp.MustCompile(`/(?:[^\s/:]+/)*([^\s/:]+/[^\s/:]+\.go:\d+)`).ReplaceAllString(m, "$1")
}
