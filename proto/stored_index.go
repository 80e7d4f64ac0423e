package proto

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// errWhole means that a file must be read as a whole, because it is no regular file, is damaged, or has an unusual layout.
var errWhole = errors.New("to be read whole")

// openBinary is ReadBinary for a message with blobs. Long lists of values stay in the file. Of nets it reads what weights need (skips).
func openBinary(path string, m proto.Message) (*Stored, error) {
	if !isStream(path) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		s, err := index(f, m)
		if err == nil {
			return s, nil
		}
		f.Close()
		if !errors.Is(err, errWhole) {
			return nil, err
		}
	}
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	proto.Reset(m)
	x := &indexer{from: bytes.NewReader(data), whole: true}
	if x.message(m.ProtoReflect(), span{0, int64(len(data))}) == nil && complete(m) {
		return nil, nil
	}
	proto.Reset(m)
	return nil, unmarshalBinary(path, data, m) // reports the fault
}

// complete reports whether a message has fields, and all that it must have.
func complete(m proto.Message) bool {
	return len(setFields(m.ProtoReflect())) > 0 && proto.CheckInitialized(m) == nil
}

// index reads a message without its long lists, and records their positions.
func index(f *os.File, m proto.Message) (*Stored, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errWhole
	}
	x := &indexer{from: f, found: map[*caffepb.BlobProto]*blobSpans{}}
	if err := x.message(m.ProtoReflect(), span{0, info.Size()}); err != nil {
		return nil, err
	}
	if !complete(m) {
		return nil, errWhole
	}
	return &Stored{file: f, at: x.found, was: info}, nil
}

// indexer visits the fields of a file, and reads as little of it as possible.
type indexer struct {
	from   io.ReaderAt
	window []byte // bytes of the file, from start on
	start  int64
	found  map[*caffepb.BlobProto]*blobSpans
	blob   *caffepb.BlobProto // the last one
	whole  bool               // lists are read into their messages
}

// message reads the message at a position.
func (x *indexer) message(m protoreflect.Message, at span) error {
	var short []byte // the fields to unmarshal together
	blob, _ := m.Interface().(*caffepb.BlobProto)
	if blob != nil {
		x.blob = blob
	}
	_, int8s := m.Interface().(*caffepb.Int8Values)
	lists := map[protowire.Number]bool{}
	for end := at.at + at.bytes; at.at < end; {
		begin := at.at
		num, wireType, body, err := x.field(begin, end)
		if err != nil {
			return err
		}
		at.at = body.at + body.bytes
		fd := m.Descriptor().Fields().ByNumber(num)
		list := blob != nil && (num == blobData || num == blobDiff) || int8s && num == int8Data
		switch {
		case skips(m.Descriptor(), fd):
		case list && lists[num] && !x.whole: // the list is stored in several pieces
			return errWhole
		case list && body.bytes >= longBytes && !x.whole:
			if err := x.note(num, body, int8s); err != nil {
				return err
			}
		case wireType == protowire.BytesType && fd != nil && (mayHaveBlobs(fd.Message()) || blob != nil && fd.Name() == "int8_data"):
			if err := x.message(inner(m, fd), body); err != nil {
				return err
			}
		default:
			field, err := x.bytes(begin, int(at.at-begin))
			if err != nil {
				return err
			}
			short = append(short, field...)
		}
		lists[num] = list
	}
	if (proto.UnmarshalOptions{Merge: true, AllowPartial: true}).Unmarshal(short, m.Interface()) != nil {
		return errWhole
	}
	return nil
}

// skips reports whether a field of a net or a layer is not read: weights need names, types and blobs. Forks give the same field number to different
// messages, so that the parameters of a fork's layers may not parse, or lack fields that ours must have.
func skips(md protoreflect.MessageDescriptor, fd protoreflect.FieldDescriptor) bool {
	switch {
	case md.Name() == "NetParameter":
		return fd != nil && fd.Message() != nil && !mayHaveBlobs(fd.Message())
	case md.Name() == "BlobProto" || !mayHaveBlobs(md):
		return false
	}
	return fd == nil || fd.Name() != "name" && fd.Name() != "type" && !mayHaveBlobs(fd.Message())
}

// mayHaveBlobs reports whether a message of the indexed files is a blob or contains blobs.
func mayHaveBlobs(md protoreflect.MessageDescriptor) bool {
	if md == nil {
		return false
	}
	switch md.Name() {
	case "BlobProto", "LayerParameter", "V1LayerParameter", "V0LayerParameter":
		return true
	}
	return false
}

// inner returns the message in a field; for a repeated field, it appends a new one.
func inner(m protoreflect.Message, fd protoreflect.FieldDescriptor) protoreflect.Message {
	if v := m.Mutable(fd); fd.IsList() {
		return v.List().AppendMutable().Message()
	} else {
		return v.Message()
	}
}

// note records the position of a list of the last blob.
func (x *indexer) note(num protowire.Number, body span, int8s bool) error {
	if body.bytes%floatBytes != 0 && !int8s {
		return errWhole
	}
	own := x.found[x.blob]
	if own == nil {
		own = &blobSpans{}
		x.found[x.blob] = own
	}
	switch {
	case int8s:
		own.bytes = body
	case num == blobData:
		own.data = body
	default:
		own.diff = body
	}
	return nil
}

// field reads the header of the field at a byte of the file: its number, and the position of its value.
func (x *indexer) field(at, end int64) (num protowire.Number, wireType protowire.Type, value span, err error) {
	const enough = 2 * binary.MaxVarintLen64 // for a tag, and a size or a number
	head, err := x.bytes(at, int(min(enough, end-at)))
	if err != nil {
		return 0, 0, span{}, err
	}
	num, wireType, tag := protowire.ConsumeTag(head)
	if tag < 0 {
		return 0, 0, span{}, errWhole
	}
	if wireType != protowire.BytesType {
		n := protowire.ConsumeFieldValue(num, wireType, head[tag:])
		if n < 0 {
			return 0, 0, span{}, errWhole
		}
		return num, wireType, span{at + int64(tag), int64(n)}, nil
	}
	size, n := protowire.ConsumeVarint(head[tag:])
	value.at = at + int64(tag+n)
	if n < 0 || size > uint64(end-value.at) {
		return 0, 0, span{}, errWhole
	}
	value.bytes = int64(size)
	return num, wireType, value, nil
}

// bytes returns a part of the file, valid until the next call.
func (x *indexer) bytes(at int64, n int) ([]byte, error) {
	if at < x.start || at+int64(n) > x.start+int64(len(x.window)) {
		x.window = slices.Grow(x.window[:0], max(n, 4<<10))
		got, err := x.from.ReadAt(x.window[:cap(x.window)], at)
		if got < n {
			return nil, err
		}
		x.start, x.window = at, x.window[:got]
	}
	return x.window[at-x.start:][:n], nil
}
