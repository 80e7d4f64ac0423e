package proto

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// wholeBytes is the largest size of a message that is serialised in memory before writing.
const wholeBytes = 64 << 10

// inOrder makes equal messages give equal bytes. Callers have checked required fields.
var inOrder = proto.MarshalOptions{Deterministic: true, AllowPartial: true}

// writeMessage writes the bytes of a deterministic Marshal without holding them in memory. It writes large messages field by
// field, and the floats of blobs directly from their slices.
func writeMessage(w io.Writer, m proto.Message) error {
	if err := proto.CheckInitialized(m); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, wholeBytes)
	if err := writeFields(b, m.ProtoReflect()); err != nil {
		return err
	}
	return b.Flush()
}

func writeFields(w *bufio.Writer, m protoreflect.Message) error {
	if proto.Size(m.Interface()) <= wholeBytes {
		return writeWhole(w, m)
	}
	for _, fd := range setFields(m) {
		if err := writeField(w, m, fd); err != nil {
			return err
		}
	}
	_, err := w.Write(m.GetUnknown())
	return err
}

func writeWhole(w *bufio.Writer, m protoreflect.Message) error {
	data, err := inOrder.MarshalAppend(w.AvailableBuffer(), m.Interface())
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func writeField(w *bufio.Writer, m protoreflect.Message, fd protoreflect.FieldDescriptor) error {
	value := m.Get(fd)
	switch floats := blobFloats(m, fd); {
	case floats != nil:
		return writeFloats(w, fd.Number(), floats)
	case fd.Message() == nil:
		alone := m.New()
		alone.Set(fd, value)
		return writeWhole(w, alone)
	case fd.IsList():
		for i := range value.List().Len() {
			if err := writeInner(w, fd.Number(), value.List().Get(i).Message()); err != nil {
				return err
			}
		}
		return nil
	default:
		return writeInner(w, fd.Number(), value.Message())
	}
}

func writeInner(w *bufio.Writer, num protowire.Number, m protoreflect.Message) error {
	if err := writeHead(w, num, proto.Size(m.Interface())); err != nil {
		return err
	}
	return writeFields(w, m)
}

func writeHead(w *bufio.Writer, num protowire.Number, size int) error {
	head := protowire.AppendTag(w.AvailableBuffer(), num, protowire.BytesType)
	_, err := w.Write(protowire.AppendVarint(head, uint64(size)))
	return err
}

// blobFloats returns a blob's values or gradients if fd is their field, else nil.
func blobFloats(m protoreflect.Message, fd protoreflect.FieldDescriptor) []float32 {
	b, ok := m.Interface().(*caffepb.BlobProto)
	switch {
	case ok && fd.Number() == blobData:
		return b.Data
	case ok && fd.Number() == blobDiff:
		return b.Diff
	}
	return nil
}

const floatBytes = 4

func writeFloats(w *bufio.Writer, num protowire.Number, values []float32) error {
	if err := writeHead(w, num, floatBytes*len(values)); err != nil {
		return err
	}
	for len(values) > 0 {
		if w.Available() < floatBytes {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		piece := w.AvailableBuffer()
		n := min(len(values), cap(piece)/floatBytes)
		for _, v := range values[:n] {
			piece = binary.LittleEndian.AppendUint32(piece, math.Float32bits(v))
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}
