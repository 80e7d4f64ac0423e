package serve

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// body is the memory of a request's body. Binary tensors are run where they were read to, so it is used again only when the request has been answered and its job
// has ended, of which either may be first.
type body struct {
	memory []byte
	users  atomic.Int32
}

// Bodies of 2^(n-1)+1 to 2^n bytes share a pool. The garbage collector empties pools that are not used.
var bodies [64]sync.Pool

// bodyAlignment is that of the first binary tensor, in bytes.
const bodyAlignment = 64

// newBody returns memory for n bytes, with one user.
func newBody(n int) *body {
	class := bits.Len(uint(n + bodyAlignment))
	b, _ := bodies[class].Get().(*body)
	if b == nil {
		b = &body{memory: make([]byte, 1<<class)}
	}
	b.users.Store(1)
	return b
}

// use adds a user; nil: nothing.
func (b *body) use() {
	if b != nil {
		b.users.Add(1)
	}
}

// release takes a user away; nil: nothing.
func (b *body) release() {
	if b != nil && b.users.Add(-1) == 0 {
		bodies[bits.Len(uint(len(b.memory)))-1].Put(b)
	}
}

// aligned returns n bytes of the memory of which that at offset at has an address that is a multiple of bodyAlignment.
func (b *body) aligned(n, at int) []byte {
	start := -(int(uintptr(unsafe.Pointer(&b.memory[0]))) + at) & (bodyAlignment - 1)
	return b.memory[start:][:n]
}

// readInfer reads the body of a request, and the length of the JSON that it begins with. The caller releases the memory; it is nil if the body's length was not stated.
func readInfer(r *http.Request) (memory *body, content []byte, header int, err error) {
	text := strings.Join(r.Header.Values(headerLength), ", ")
	if text != "" {
		length, err := strconv.ParseUint(text, 10, 62)
		if err != nil {
			return nil, nil, 0, badf("%s: %s: it should be the length of the JSON at the body's beginning", headerLength, text)
		}
		header = int(min(length, math.MaxInt))
	}
	if r.ContentLength > 0 {
		memory = newBody(int(r.ContentLength))
		content = memory.aligned(int(r.ContentLength), header)
		_, err = io.ReadFull(r.Body, content)
	} else {
		content, err = readBody(r)
	}
	if text == "" {
		header = len(content)
	}
	if err == nil && header > len(content) {
		err = badf("%s: %s: it should be the length of the JSON in a body of %d bytes", headerLength, text, len(content))
	}
	return memory, content, header, err
}

// readBody reads the body of a request, whose length the server has limited.
func readBody(r *http.Request) (content []byte, err error) {
	if r.ContentLength >= 0 {
		content = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, content)
	} else {
		content, err = io.ReadAll(r.Body)
	}
	return content, err
}

// arriving is the body of a request as it comes from the client. Its errors have a status.
type arriving struct {
	io.ReadCloser
	request *http.Request
}

func (a arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	var large *http.MaxBytesError
	var lost *net.OpError
	switch {
	case errors.As(err, &large):
		err = failf(http.StatusRequestEntityTooLarge, "the body has more than the %d bytes that are taken", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = failf(http.StatusRequestTimeout, "the body did not come in time: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &lost), a.request.ProtoMajor == 2: // whose bodies are cut by their clients alone
		err = failf(statusClientClosedRequest, "the client left before the body's end: %w", err)
	default:
		err = badf("reading the body: %w", err)
	}
	return n, err
}

// littleEndian reports whether this computer has numbers in memory as the protocol has them.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// floatsOf returns the FP32 values that bytes have, in the same memory; nil if this computer cannot read them there.
func floatsOf(b []byte) []float32 {
	if !littleEndian || len(b) == 0 || uintptr(unsafe.Pointer(&b[0]))%unsafe.Alignof(float32(0)) != 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// bytesOf returns the bytes of FP32 values, in the same memory; nil if this computer has them in another order.
func bytesOf(values []float32) []byte {
	if !littleEndian || len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}
