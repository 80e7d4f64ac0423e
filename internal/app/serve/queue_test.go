package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/predict"
)

// TestQueue: every job that is pushed is taken or removed, once and in order, also by goroutines that take turns; the end of the queue ends all of them.
func TestQueue(t *testing.T) {
	q := newQueue(3)
	list := []*job{{items: 1}, {items: 2}, {items: 3}, {items: 4}}
	for i, j := range list {
		if q.push(j) != (i < 3) {
			t.Errorf("job %d of a queue for 3 is taken: %v", i+1, i >= 3)
		}
	}
	if !q.remove(list[1]) || q.remove(list[1]) || q.remove(list[3]) || q.size() != 2 {
		t.Errorf("%d jobs remain of 3, of which one was removed", q.size())
	}
	if a, b := q.wait(nil), q.wait(nil); a != list[0] || b != list[2] {
		t.Errorf("jobs %d and %d come for 1 and 3", a.items, b.items)
	}
	if j := q.wait(time.After(time.Millisecond)); j != nil {
		t.Errorf("job %d comes of an empty queue", j.items)
	}

	const all = 1000
	q = newQueue(10)
	var taking sync.Mutex
	var takers sync.WaitGroup
	seen := map[*job]int{}
	for range 4 {
		takers.Go(func() {
			for {
				taking.Lock()
				j := q.wait(nil)
				if seen[j]++; j == nil {
					taking.Unlock()
					return
				}
				taking.Unlock()
			}
		})
	}
	gone := 0
	for i := range all {
		j := &job{}
		for !q.push(j) {
			time.Sleep(time.Microsecond)
		}
		if i%3 == 0 && q.remove(j) {
			gone++
		}
	}
	q.close()
	takers.Wait()
	if len(seen) != all-gone+1 || seen[nil] != 4 {
		t.Errorf("%d of %d jobs were taken, %d removed; %d of 4 takers ended", len(seen)-1, all, gone, seen[nil])
	}
	for _, n := range seen {
		if n != 1 && n != 4 {
			t.Errorf("a job was taken %d times", n)
		}
	}
}

// refusedUnread checks that a server refuses bodies whose content it has not looked at, large ones too, and that their connection goes on.
func refusedUnread(t *testing.T, url string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	answers := bufio.NewReader(c)
	for _, what := range []string{"infer", "classify", "infer"} {
		size := 1 << 20 // more than net/http passes over by itself
		fmt.Fprintf(c, "POST /v2/models/m/%s HTTP/1.1\r\nHost: %s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", what, c.RemoteAddr(), size)
		if _, err := c.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		w, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(w.Body)
		if w.StatusCode != 429 || w.Close {
			t.Errorf("%s with a body of %d zeros is answered with status %d, connection closed: %v: %s", what, size, w.StatusCode, w.Close, text)
		}
	}
	fmt.Fprint(c, "POST /v2/models/m/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n")
	if w, err := http.ReadResponse(answers, nil); err != nil || w.StatusCode != 429 {
		t.Errorf("a client that asks before it sends a body has no 429 at once: %v, error %v", w, err)
	}
}

// TestRefusedBodies: a server that has as many requests, or bytes of them, as it takes refuses others as one with a full queue does; and who asks before the body is sent has an answer at once.
func TestRefusedBodies(t *testing.T) {
	cfg, _ := breakingConfig(t)
	s, url := run(t, cfg)
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	refusedUnread(t, url)
	for range cap(s.slots) {
		<-s.slots
	}
	s.held.Add(cfg.MaxBodies)
	refusedUnread(t, url)
	s.held.Add(-cfg.MaxBodies)
	if status, _, body := call(t, "POST", url+"/v2/models/m/infer", row(1)); status != 200 {
		t.Errorf("afterwards: status %d: %s", status, body)
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprint(c, "POST /v2/models/m/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\nContent-Length: 100000\r\n\r\n")
	if w, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || w.StatusCode != 415 {
		t.Errorf("a client that asks before it sends a compressed body has no 415 at once: %v, error %v", w, err)
	}
}

// TestPlacesOfVanishedClients: clients that give up leave their places in the queue to others, while a run goes on, and memory of theirs is free.
func TestPlacesOfVanishedClients(t *testing.T) {
	cfg, _ := breakingConfig(t)
	cfg.Queue = 2
	s, url := run(t, cfg)
	v, err := s.repository.find("m", "")
	if err != nil {
		t.Fatal(err)
	}
	defer v.users.Done()
	await := func(n int) {
		t.Helper()
		for begin := time.Now(); v.queue.size() != n; time.Sleep(time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("%d requests are in the queue, want %d", v.queue.size(), n)
			}
		}
	}
	v.turns.begin(true) // as if a run went on
	defer v.turns.end(true)
	first := newJob(t.Context()) // a worker waits with it for the run's end
	first.alone = func(context.Context, *predict.Session) error { return nil }
	if err := v.submit(first); err != nil {
		t.Fatal(err)
	}
	await(0)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range 2 {
			clients.Go(func() {
				r, _ := http.NewRequestWithContext(ctx, "POST", url+"/v2/models/m/infer", bytes.NewReader(row(1)))
				if w, err := http.DefaultClient.Do(r); err == nil {
					io.Copy(io.Discard, w.Body)
					w.Body.Close()
				}
			})
		}
		await(2)
		if status, _, body := call(t, "POST", url+"/v2/models/m/infer", row(1)); status != 429 {
			t.Errorf("a third request for two places: status %d: %s", status, body)
		}
		refusedUnread(t, url)
		cancel()
		clients.Wait()
		await(0)
	}
}
