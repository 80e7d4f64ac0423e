package elastic

import (
	"net"
	"os"
	"testing"
	"time"
)

// stopped is a connection whose first reads come too late.
type stopped struct {
	net.Conn
	late int
}

func (s *stopped) SetReadDeadline(time.Time) error { return nil }

func (s *stopped) Read(b []byte) (int, error) {
	if s.late--; s.late >= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(b, "heard"), nil
}

// TestHeard: a process that was stopped itself, of whose deadlines one passes meanwhile, still hears what has come. All of them are a silence.
func TestHeard(t *testing.T) {
	for late := range naps + 1 {
		n, err := heard{&stopped{late: late}, Silence}.Read(make([]byte, 9))
		if late < naps && (n != 5 || err != nil) || late == naps && (n != 0 || err == nil) {
			t.Errorf("after %d deadlines of %d: %d bytes, %v", late, naps, n, err)
		}
	}
}
