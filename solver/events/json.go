package events

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// timeLayout is RFC 3339 with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// head is the part of a line that all kinds share.
type head struct {
	Event string `json:"event"`
	Time  string `json:"time"`
}

// Line returns an event as a line of JSON with its newline: the kind, the time and the fields of its body.
func Line(e Event) ([]byte, error) {
	first, err := json.Marshal(head{e.Kind(), e.Time.UTC().Format(timeLayout)})
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	line := append(first[:len(first)-1], ',')
	line = append(line, rest[1:]...)
	return append(line, '\n'), nil
}

// ErrUnknown reports a kind of event that this version does not know.
var ErrUnknown = errors.New("unknown kind of event")

// Parse reads a line of JSON. Fields that this version does not know are skipped.
func Parse(line []byte) (Event, error) {
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return Event{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, h.Time)
	if err != nil {
		return Event{}, fmt.Errorf("time: %w", err)
	}
	b := newBody(h.Event)
	if b == nil {
		return Event{}, fmt.Errorf("%w %q", ErrUnknown, h.Event)
	}
	if err := json.Unmarshal(line, b); err != nil {
		return Event{}, err
	}
	return Event{Time: at, Body: b}, nil
}

// maxLine limits a line. The prototxts in a Started are the longest text.
const maxLine = 64 << 20

// Read calls take for every event of a file. Lines that are no events are skipped: a kill or a full disk can cut a line short. It returns
// the number of skipped lines, those of unknown kinds excepted.
func Read(r io.Reader, take func(Event)) (skipped int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := Parse(lines.Bytes())
		switch {
		case err == nil:
			take(e)
		case !errors.Is(err, ErrUnknown):
			skipped++
		}
	}
	return skipped, lines.Err()
}
