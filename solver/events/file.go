package events

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File appends events to a file, each as one line in one write, so that a kill loses no earlier event. A failed write, as on a full disk,
// loses its line but does not end the run; later events are written if there is room again.
type File struct {
	to   io.WriteCloser
	name string
	warn func(error) // called for the first failure of a series
	cut  bool        // the file ends in the middle of a line
	lost int         // lines lost since the last success
}

// Append opens a file for appending and creates it if it does not exist. warn is called when writing fails for the first time, and again
// after it has succeeded in between.
func Append(path string, warn func(error)) (*File, error) {
	to, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	f := &File{to: to, name: path, warn: warn}
	if f.cut, err = endsInLine(to); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), to.Close())
	}
	return f, nil
}

// WriteTo returns a File that writes to a stream, which Close leaves open. name is its name in errors.
func WriteTo(w io.Writer, name string, warn func(error)) *File {
	return &File{to: unclosed{w}, name: name, warn: warn}
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// endsInLine reports whether a file's last byte is not a newline: the process that wrote it was killed, or the disk was full.
func endsInLine(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// Take writes an event.
func (f *File) Take(e Event) {
	line, err := Line(e)
	if err != nil {
		panic("events: " + err.Error()) // every body can be marshalled
	}
	if f.cut {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.to.Write(line)
	switch {
	case err == nil:
		f.cut, f.lost = false, 0
		return
	case n > 0:
		f.cut = n != 1 || !f.cut
	}
	if f.lost++; f.lost == 1 {
		f.warn(fmt.Errorf("%s: an event is lost: %w; training goes on", f.name, err))
	}
}

// Close closes the file.
func (f *File) Close() error { return f.to.Close() }
