// Package regular opens regular files only. Opening a pipe can block for ever, and a device may never end.
package regular

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Open opens a file for reading. A pipe, a device or a folder is an error, at once.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(info.Mode()); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.Open(path)
}

// check returns an error that names the kind of a file that is not regular.
func check(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a folder")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a pipe; a file is needed")
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device; a file is needed")
	case mode&fs.ModeSocket != 0:
		return errors.New("it is a socket; a file is needed")
	}
	return fmt.Errorf("it is no file (%v)", mode)
}

// ReadFile returns the content of a file. A file too large for memory is an error.
func ReadFile(path string) ([]byte, error) {
	return ReadFileInto(path, func(n int) []byte { return make([]byte, n) })
}

// ReadFileInto is ReadFile with memory for n bytes that take returns.
func ReadFileInto(path string, take func(n int) []byte) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := pages.Room(float64(info.Size())); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	b := take(int(info.Size()))
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return b[:n], nil // shorter than the stated length if the file has shrunk
}

// OpenText opens a text for reading, from a file or a pipe. A byte order mark at its start, as some editors write it, is not part of the text. A device
// that may never end is an error, and so is text in UTF-16.
func OpenText(path string) (io.ReadCloser, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeDevice != 0 && !ends(path) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: check(info.Mode())}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &text{bufio.NewReader(f), f}
	start, _ := t.Peek(len(mark)) // an error comes again with the first Read
	switch {
	case string(start) == mark:
		_, err = t.Discard(len(mark))
	case len(start) >= 2 && (string(start[:2]) == "\xff\xfe" || string(start[:2]) == "\xfe\xff"):
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is text in UTF-16; save it as UTF-8")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

// mark is the byte order mark in UTF-8.
const mark = "\xef\xbb\xbf"

// text is an open text.
type text struct {
	*bufio.Reader
	f *os.File
}

func (t *text) Close() error { return t.f.Close() }

// ReadText returns the content of a text, as of OpenText. More than most bytes are an error.
func ReadText(path string, most int64) ([]byte, error) {
	f, err := OpenText(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return b, err
}

// ends reports whether a device is one that users read a text from: none, or what they type.
func ends(path string) bool {
	return path == os.DevNull || path == "/dev/stdin" || path == "/dev/tty" || strings.HasPrefix(path, "/dev/fd/")
}
