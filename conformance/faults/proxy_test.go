package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance/faults"
)

// endpoint answers with what it was asked, and counts.
func endpoint(t *testing.T) (*httptest.Server, chan string) {
	t.Helper()
	asked := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		if r.Header.Get("Upgrade") != "" {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer c.Close()
			_, err = io.WriteString(c, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nhello\n")
			if err == nil {
				_, err = rw.ReadByte() // until the connection breaks
			}
			if err != nil {
				return
			}
		}
		fmt.Fprintf(w, "the whole answer to %s", r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s, asked
}

func proxied(t *testing.T) (*faults.Proxy, string, chan string) {
	t.Helper()
	s, asked := endpoint(t)
	p, err := faults.New(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p, strings.Replace(p.Address(), "tcp://", "http://", 1), asked
}

func get(t *testing.T, url string) (int, string, error) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func TestNothingIsSpoiledWithoutAFault(t *testing.T) {
	p, url, _ := proxied(t)
	status, body, err := get(t, url+"/a")
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Equal(t, "the whole answer to /a", body)
	require.Zero(t, p.Spoiled())
	require.Equal(t, []faults.Request{{Method: "GET", Path: "/a"}}, p.Seen())
}

func TestFaults(t *testing.T) {
	p, url, asked := proxied(t)
	p.Set(faults.Fault{Status: 503, Body: "no", Header: map[string]string{"Retry-After": "2"}})
	status, body, err := get(t, url+"/b")
	require.NoError(t, err)
	require.Equal(t, 503, status)
	require.Equal(t, "no", body)
	require.Empty(t, asked)

	p.Set(faults.Fault{Lose: true})
	_, _, err = get(t, url+"/lost")
	require.Error(t, err)
	require.Equal(t, "GET /lost", <-asked)

	p.Set(faults.Fault{Cut: true})
	_, body, err = get(t, url+"/cut")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotEmpty(t, body)
	require.Less(t, len(body), len("the whole answer to /cut"))

	p.Set(faults.Fault{Delay: 300 * time.Millisecond})
	began := time.Now()
	_, _, err = get(t, url+"/slow")
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)

	p.Set(faults.Fault{Status: 500, Only: func(method, _ string) bool { return method == "POST" }})
	status, _, err = get(t, url+"/other")
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Zero(t, p.Spoiled())
}

func TestUpgradedConnectionsPassAndBreak(t *testing.T) {
	p, url, _ := proxied(t)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "POST /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	require.Equal(t, 101, res.StatusCode)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "hello\n", line)
	require.NoError(t, p.Break())
	require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = r.ReadByte()
	require.ErrorIs(t, err, io.EOF)
}
