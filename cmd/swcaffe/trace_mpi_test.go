package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
)

// traceOf reads a file of -trace: its note, the spans by process and row, and the rows' names.
func traceOf(t *testing.T, path string) (note string, spans map[string][]span) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []span
		OtherData   struct{ Note string }
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		t.Fatal(err)
	}
	type place struct{ pid, tid int }
	names := map[place]string{}
	spans = map[string][]span{}
	for _, s := range trace.TraceEvents {
		if s.Name == "thread_name" {
			names[place{s.Pid, s.Tid}] = fmt.Sprint(s.Args["name"])
		}
	}
	for _, s := range trace.TraceEvents {
		if s.Ph == "X" {
			name := fmt.Sprint(s.Pid, " ", names[place{s.Pid, s.Tid}])
			spans[name] = append(spans[name], s)
		}
	}
	return trace.OtherData.Note, spans
}

// checkJobTrace checks the trace of 4 iterations of four processes: every one has its layers and iterations. A ring's worker sends 2(P-1)
// messages in each iteration, to its neighbour. They lie in the receiver's iteration and begin after the sender's has begun: MPI buffers small
// messages, so that the sender may be in its next iteration when they are taken.
func checkJobTrace(t *testing.T, flags, path string) {
	t.Helper()
	const processes, iterations, hair = 4, 4, 1000 // microseconds by which clocks may differ
	note, spans := traceOf(t, path)
	if !strings.HasPrefix(note, "The clocks of the processes agree to within ") || strings.Contains(note, "Nothing has come") {
		t.Errorf("%s: the trace's note is %q", flags, note)
	}
	iterationsOf := func(rank int) (list []span) {
		for _, s := range spans[fmt.Sprintf("1 worker %d", rank)] {
			if s.Cat == "iteration" {
				list = append(list, s)
			}
		}
		return list
	}
	for rank := range processes {
		row, sent := spans[fmt.Sprintf("1 worker %d", rank)], spans[fmt.Sprintf("1 worker %d: sends", rank)]
		count := map[string]int{}
		for _, s := range row {
			count[s.Cat+" "+s.Name]++
		}
		if count["forward conv"] != iterations || count["backward ip"] != iterations || count["update update"] != iterations || len(iterationsOf(rank)) != iterations {
			t.Errorf("%s: rank %d has %v", flags, rank, count)
			continue
		}
		if strings.Contains(flags, "easgd -tau") {
			// Two exchanges, in iterations 1 and 3; the first worker is beside the centre.
			if want := map[bool]int{true: 0, false: 2}[rank == 0]; len(sent) != want || rank > 0 && sent[0].Name != "to centre" {
				t.Errorf("%s: rank %d sends %v, want %d to the centre", flags, rank, sent, want)
			}
		}
		if !strings.Contains(flags, "ring") {
			continue
		}
		to := (rank + 1) % processes
		mine, its := iterationsOf(rank), iterationsOf(to)
		if len(sent) != 2*(processes-1)*iterations {
			t.Errorf("%s: rank %d sends %d messages", flags, rank, len(sent))
			continue
		}
		for i, m := range sent {
			k := i / (2 * (processes - 1))
			first, last := max(mine[k].Ts, its[k].Ts)-hair, its[k].Ts+its[k].Dur+hair
			if m.Name != fmt.Sprint("to worker ", to) || m.Ts < first || m.Ts+m.Dur > last {
				t.Errorf("%s: message %d of rank %d is %+v; the iterations %+v and %+v", flags, i, rank, m, mine[k], its[k])
			}
		}
	}
}

// checkJobTimeline checks what the page of four processes has of an iteration.
func checkJobTimeline(t *testing.T, log interface{ String() string }) {
	t.Helper()
	found := regexp.MustCompile(`The run's page: (http://[^#]*)`).FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Get(found[1] + "api/timeline")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Rows []timeline.Row
		Uses []timeline.Use
		Note string
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range got.Rows {
		names[r.Name] = true
	}
	for rank := range 4 {
		if name := fmt.Sprint("worker ", rank); !names[name] || !names[name+": sends"] {
			t.Errorf("the page has no rows of %s: %v", name, names)
		}
	}
	if len(got.Uses) != 4 || !strings.HasPrefix(got.Note, "The clocks") {
		t.Errorf("the page has the uses %+v and the note %q", got.Uses, got.Note)
	}
	for _, u := range got.Uses {
		if parts := u.Computing + u.Waiting + u.Communicating; u.Computing <= 0 || u.Communicating < 0 || parts > 1.01*u.Whole {
			t.Errorf("%s's time is %+v", u.Name, u)
		}
	}
}
