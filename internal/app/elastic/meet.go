package elastic

import (
	"encoding/json"
	"fmt"
	"net"
	"time"

	"github.com/swcaffe/swcaffe/topology"
	"github.com/swcaffe/swcaffe/topology/tcp"
)

// arrival is a connection of another worker, which wants to meet in an epoch as a rank.
type arrival struct {
	Word        string
	Epoch, Rank int
	conn        net.Conn
}

// longestArrival is more than the bytes of an arrival, which come as a line of JSON padded to this length.
const longestArrival = 128

// answer accepts the connections of other workers.
func (w *Worker) answer(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			var text [longestArrival]byte
			a := arrival{conn: conn}
			_ = conn.SetDeadline(time.Now().Add(patience))
			n := 0
			for n < len(text) {
				k, err := conn.Read(text[n:])
				if err != nil {
					conn.Close()
					return
				}
				n += k
			}
			if json.Unmarshal(text[:], &a) != nil || a.Word != w.Word {
				conn.Close()
				return
			}
			_ = conn.SetDeadline(time.Time{})
			select {
			case w.arrivals <- a:
			case <-w.closed:
				conn.Close()
			}
		}()
	}
}

// meet connects the workers of an epoch: each calls those of lower ranks and is called by those of higher ones. It fails when over is closed.
func (w *Worker) meet(e message, over <-chan struct{}) (*tcp.Mesh, error) {
	conns := make([]net.Conn, len(e.Addresses))
	mesh := func(err error) (*tcp.Mesh, error) {
		if err == nil {
			return tcp.New(e.Rank, conns, e.Hosts), nil
		}
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
		return nil, fmt.Errorf("%w: %w", topology.ErrAborted, err)
	}
	for rank := range e.Rank {
		conn, err := w.Network.Dial(e.Addresses[rank])
		if err != nil {
			return mesh(fmt.Errorf("rank %d on %s: %w", rank, e.Hosts[rank], err))
		}
		conns[rank] = conn
		text, err := json.Marshal(arrival{Word: w.Word, Epoch: e.Epoch, Rank: e.Rank})
		if err != nil || len(text) > longestArrival {
			return mesh(fmt.Errorf("rank %d cannot introduce itself in %d bytes: %w", e.Rank, longestArrival, err))
		}
		for len(text) < longestArrival {
			text = append(text, ' ')
		}
		if _, err := conn.Write(text); err != nil {
			return mesh(fmt.Errorf("rank %d on %s: %w", rank, e.Hosts[rank], err))
		}
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for missing := len(conns) - 1 - e.Rank; missing > 0; {
		a, err := w.next(over, late.C)
		switch {
		case err != nil:
			return mesh(err)
		case a.Epoch > e.Epoch:
			w.early = append(w.early, a)
			return mesh(fmt.Errorf("epoch %d is over", e.Epoch))
		case a.Epoch < e.Epoch || a.Rank <= e.Rank || a.Rank >= len(conns) || conns[a.Rank] != nil:
			a.conn.Close()
		default:
			conns[a.Rank] = a.conn
			missing--
		}
	}
	return mesh(nil)
}

// next returns another worker's connection.
func (w *Worker) next(over <-chan struct{}, late <-chan time.Time) (arrival, error) {
	if n := len(w.early); n > 0 {
		a := w.early[n-1]
		w.early = w.early[:n-1]
		return a, nil
	}
	gone := fmt.Errorf("the epoch is over")
	select {
	case <-over: // comes first, whoever waits to be met
		return arrival{}, gone
	default:
	}
	select {
	case a := <-w.arrivals:
		return a, nil
	case <-over:
		return arrival{}, gone
	case <-late:
		return arrival{}, fmt.Errorf("not all workers have connected after %v", patience)
	}
}
