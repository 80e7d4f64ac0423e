package proto

import (
	"cmp"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
)

// ReadBinary reads a message from a binary file.
func ReadBinary(path string, m proto.Message) error {
	data, err := ReadFile(path)
	if err != nil {
		return err
	}
	return unmarshalBinary(path, data, m)
}

func unmarshalBinary(path string, data []byte, m proto.Message) error {
	md := m.ProtoReflect().Descriptor()
	if len(data) == 0 {
		return fmt.Errorf("%s: the file is empty, expected a binary %s", path, md.Name())
	}
	if err := proto.Unmarshal(data, m); err != nil {
		fault := findFault(data, md)
		if fault == "" {
			fault = err.Error()
		}
		return fmt.Errorf("%s: not a whole binary %s: %s (the file has %d bytes)", path, md.Name(), fault, len(data))
	}
	if len(setFields(m.ProtoReflect())) == 0 {
		return fmt.Errorf("%s: not a binary %s: %s", path, md.Name(), cmp.Or(knownFormat(data), "none of its fields is there"))
	}
	return nil
}

// WriteBinary writes a message to a binary file, completely or not at all. Equal messages give equal bytes.
func WriteBinary(path string, m proto.Message) error {
	return WriteFileAtomic(path, func(f *os.File) error { return writeMessage(f, m) })
}

// LooksBinary reports whether data are a binary message, not text. Text has no control characters other than white space.
func LooksBinary(data []byte) bool {
	const enough = 1 << 16
	for _, c := range data[:min(len(data), enough)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f' {
			return true
		}
	}
	return false
}
