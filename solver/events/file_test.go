package events

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fullDisk writes room bytes and then fails.
type fullDisk struct {
	bytes.Buffer
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(d.room, len(b))
	d.room -= n
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errors.New("no space")
	}
	return n, nil
}

// TestFullDisk: a full disk loses whole events only, is reported once each time, and later events are read although a line was cut.
func TestFullDisk(t *testing.T) {
	one, _ := Line(Event{testTime, samples[3]})
	for cut := range len(one) + 1 {
		disk, warned := &fullDisk{room: len(one) + cut}, 0
		f := WriteTo(disk, "x", func(err error) {
			if warned++; !strings.Contains(err.Error(), "x: ") || !strings.Contains(err.Error(), "no space") {
				t.Error(err)
			}
		})
		for range 3 {
			f.Take(Event{testTime, samples[3]})
		}
		disk.room = 1 // for the newline that ends the cut line
		f.Take(Event{testTime, samples[3]})
		disk.room = 1000
		f.Take(Event{testTime, samples[3]})
		want := 2
		if cut >= len(one)-1 { // only its newline is missing
			want++
		}
		n := 0
		if _, err := Read(&disk.Buffer, func(Event) { n++ }); err != nil || n != want || warned != 1 {
			t.Errorf("room for %d bytes of the second line: %d events, %d warnings, %v; want %d and 1", cut, n, warned, err, want)
		}
		disk.room = 0
		if f.Take(Event{testTime, samples[3]}); warned != 2 {
			t.Errorf("a full disk after a success is not reported")
		}
	}
}

// TestAppend: a second run continues the file of a first one, after a cut line too.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e")
	for i, tail := range []string{"", `{"event":"sto`, "\n"} {
		f, err := Append(path, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		f.Take(Event{testTime, samples[i]})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		appendText(t, path, tail)
	}
	text, _ := os.ReadFile(path)
	var kinds []string
	skipped, err := Read(bytes.NewReader(text), func(e Event) { kinds = append(kinds, e.Kind()) })
	if strings.Join(kinds, " ") != "started iteration test" || skipped != 1 || err != nil {
		t.Errorf("%q, %d skipped, %v in\n%s", kinds, skipped, err, text)
	}
	if _, err := Append(t.TempDir(), nil); err == nil {
		t.Error("a folder is opened for events")
	}
}

func appendText(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
