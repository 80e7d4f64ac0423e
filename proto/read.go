package proto

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// mostStreamed limits the bytes read from a pipe: protobuf's limit for a message.
const mostStreamed = 1 << 31

// mostRead limits the bytes read from a file. It is far above protobuf's limit for a message, and below what a sparse file may claim to have.
const mostRead int64 = 1 << 36

// ReadFile reads a whole file that a user names. A pipe, such as bash's <(...), delivers its bytes only once. They are therefore kept for
// later calls with the same path, for example by several workers. Devices are an error, since some never end.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular() && info.Size() > mostRead:
		return nil, fmt.Errorf("%s: it has %d bytes; a file read as a whole has at most %d", path, info.Size(), mostRead)
	case err != nil || info.Mode().IsRegular() || info.IsDir():
		return os.ReadFile(path)
	case info.Mode()&fs.ModeDevice != 0:
		return nil, fmt.Errorf("%s: a device, where a file is needed", path)
	}
	s, _ := streams.LoadOrStore(path, &stream{})
	return s.(*stream).read(path)
}

// isStream reports whether a path names a file that can only be read once, from beginning to end.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// streams holds the contents of pipes by path.
var streams sync.Map

type stream struct {
	once sync.Once
	data []byte
	err  error
}

func (s *stream) read(path string) ([]byte, error) {
	s.once.Do(func() { s.data, s.err = readStream(path, mostStreamed) })
	return s.data, s.err
}

// readStream reads a pipe to its end. More bytes than limit are an error.
func readStream(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, limit)
}

// ReadInput reads standard input, called name, to its end.
func ReadInput(name string) ([]byte, error) { return readAll(os.Stdin, name, mostStreamed) }

func readAll(f *os.File, path string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes come from this pipe, which has no end", path, limit)
	}
	return data, nil
}
