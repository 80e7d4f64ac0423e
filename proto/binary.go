package proto

import (
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"
)

// ReadBinary reads a message from a binary file.
func ReadBinary(path string, m proto.Message) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return unmarshalBinary(path, data, m)
}

func unmarshalBinary(path string, data []byte, m proto.Message) error {
	name := m.ProtoReflect().Descriptor().Name()
	if len(data) == 0 {
		return fmt.Errorf("%s: the file is empty, expected a binary %s", path, name)
	}
	err := proto.Unmarshal(data, m)
	if err == nil {
		return nil
	}
	if fault := findFault(data, m.ProtoReflect().Descriptor()); fault != "" {
		return fmt.Errorf("%s: not a whole binary %s: %s (the file has %d bytes)", path, name, fault, len(data))
	}
	return fmt.Errorf("%s: not a binary %s: %w", path, name, err)
}

// WriteBinary writes a message to a binary file, whole or not at all. Equal messages give equal bytes.
func WriteBinary(path string, m proto.Message) error {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return WriteFileAtomic(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// looksBinary tells a binary message from text: text has no control characters but white space.
func looksBinary(data []byte) bool {
	const enough = 1 << 16
	for _, c := range data[:min(len(data), enough)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f' {
			return true
		}
	}
	return false
}
