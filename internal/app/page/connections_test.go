package page

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

// TestIdleConnections: connections beyond the limit are closed, the oldest idle one first, and whoever asks for the page gets it, while many
// connections send nothing, or the beginning of a request.
func TestIdleConnections(t *testing.T) {
	for _, sent := range []string{"", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		s, _ := begin(t, Config{Address: loopback, Runs: one(&events.History{})})
		limit := connectionLimit(fileLimit())
		var idle []net.Conn
		for range limit + 40 {
			c, err := net.Dial("tcp", s.listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, sent); err != nil {
				continue // it is closed already
			}
			idle = append(idle, c)
		}
		status, _ := request(t, s, http.MethodGet, "/healthz")
		if status != http.StatusOK {
			t.Errorf("beside %d idle connections: status %d", len(idle), status)
		}
		closed := 0
		for _, c := range idle {
			c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if _, err := io.Copy(io.Discard, c); err == nil { // the other side has closed it
				closed++
			} else if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
				closed++
			}
			if closed >= 40 {
				break
			}
		}
		if closed < 40 {
			t.Errorf("%d connections, %q sent: %d were closed, want 40 for a limit of %d", len(idle), sent, closed, limit)
		}
	}
}

// TestConnectionLimit: a process that may open few files keeps most of them for the run.
func TestConnectionLimit(t *testing.T) {
	for files, want := range map[uint64]int{math.MaxUint64: 256, 1 << 20: 256, 1024: 256, 256: 64, 64: 16, 8: 4} {
		if got := connectionLimit(files); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
}

// TestConnectionsAreCounted: of connections beyond the limit, those without a request are closed, the longest waiting first, and never one
// with a request.
func TestConnectionsAreCounted(t *testing.T) {
	c := &connections{most: 3}
	var conns []net.Conn
	for range 6 {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		conns = append(conns, a)
	}
	for i, step := range []struct {
		conn   int
		state  http.ConnState
		closes int // -1: none
	}{
		{0, http.StateNew, -1}, {1, http.StateNew, -1}, {2, http.StateNew, -1},
		{0, http.StateActive, -1},
		{3, http.StateNew, 1}, {1, http.StateClosed, -1}, // 0 has a request
		{0, http.StateIdle, -1},
		{4, http.StateNew, 2}, {2, http.StateClosed, -1},
		{3, http.StateActive, -1}, {4, http.StateActive, -1}, {0, http.StateActive, -1},
		{5, http.StateNew, 5}, {5, http.StateClosed, -1}, // all others have requests
	} {
		got := c.count(conns[step.conn], step.state)
		if want := step.closes; (got == nil) != (want < 0) || got != nil && got != conns[want] {
			t.Fatalf("step %d: it closes %v, want number %d", i, got, want)
		}
	}
	if text := fmt.Sprint(c.open, len(c.waiting)); text != "3 0" {
		t.Errorf("open and waiting: %s, want 3 0", text)
	}
}
