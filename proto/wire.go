package proto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// signatures are the first bytes of file formats that are mistaken for binary messages.
var signatures = []struct{ start, what string }{
	{"\x89HDF\r\n\x1a\n", "an HDF5 file"},
	{"\x1f\x8b", "a gzip file"},
	{"PK\x03\x04", "a zip file"},
	{"\xff\xfe", "text in UTF-16; save it as UTF-8"},
	{"\xfe\xff", "text in UTF-16; save it as UTF-8"},
	{"<", "an HTML or XML page"},
	{"version https://git-lfs", "a Git LFS pointer, not the file it stands for"},
}

// knownFormat names the format of a file that is not a binary message; "" if it may be one.
func knownFormat(data []byte) string {
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s.start)) {
			return "it is " + s.what
		}
	}
	if !LooksBinary(data) && utf8.Valid(data) {
		return "it is text"
	}
	return ""
}

// findFault describes the fault of a message that does not parse, with its byte; "" if its layout is correct.
func findFault(data []byte, md protoreflect.MessageDescriptor) string {
	if what := knownFormat(data); what != "" {
		return what
	}
	return wireFault(data, 0, "", md)
}

// wireFault checks the fields of a message that starts at byte base of the file.
func wireFault(data []byte, base int, path string, md protoreflect.MessageDescriptor) string {
	counts := map[protowire.Number]int{}
	for at := 0; at < len(data); {
		num, wireType, tagLen := protowire.ConsumeTag(data[at:])
		if tagLen < 0 {
			return early(path, tagLen) + fmt.Sprintf("byte %d%s is not the start of a field", base+at, within(path))
		}
		fd := md.Fields().ByNumber(num)
		name := fmt.Sprintf("%sfield %d", path, num)
		if fd != nil {
			name = path + string(fd.Name())
			if fd.IsList() && fd.Message() != nil {
				name += fmt.Sprintf("[%d]", counts[num])
			}
			counts[num]++
		}
		body := at + tagLen
		n := protowire.ConsumeFieldValue(num, wireType, data[body:])
		if wireType != protowire.BytesType && n >= 0 {
			at = body + n
			continue
		}
		size, sizeLen := protowire.ConsumeVarint(data[body:])
		if wireType != protowire.BytesType || sizeLen < 0 {
			return early(path, min(n, sizeLen)) + fmt.Sprintf("%s at byte %d is cut off or damaged", name, base+at)
		}
		body += sizeLen
		if left := len(data) - body; size > uint64(left) {
			return early(path, n) + fmt.Sprintf("%s at byte %d has a size of %d bytes, %d are left%s", name, base+at, size, left, within(path))
		}
		at = body + int(size)
		if fd == nil || fd.Message() == nil {
			continue
		}
		if fault := wireFault(data[body:at], base+body, name+".", fd.Message()); fault != "" {
			return fault
		}
	}
	return ""
}

// early says that the file ends early, if reading a field of the outermost message hit the end. Inside other messages, missing
// bytes are damage.
func early(path string, read int) string {
	if path == "" && errors.Is(protowire.ParseError(read), io.ErrUnexpectedEOF) {
		return "the file ends early: "
	}
	return ""
}

// within names the message for a path that ends in a dot.
func within(path string) string {
	if path == "" {
		return ""
	}
	return " of " + path[:len(path)-1]
}
