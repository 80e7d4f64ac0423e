//go:build linux && (amd64 || arm64) && !(mpi && cgo)

package mpiabi

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/swcaffe/swcaffe/topology"
)

func init() { topology.UseMPI(open) }

// binding is a library that has joined the job.
type binding struct {
	functions
	library    string
	rank, size int
	mail       uintptr   // the communicator of Post and Fetch
	scratch    sync.Pool // of *results
}

// results are where calls write what they find, and what they are given. They stay in the heap, since C does not see a stack move, and so do the
// arrays of which they hold the addresses. Used again and again, they make calls that allocate nothing.
type results struct {
	status       status
	count, found int32
	message      uintptr
	out, in      unsafe.Pointer
	args         [12]uintptr
}

// call calls a function of the library.
func (b *binding) call(r *results, function uintptr, args ...uintptr) error {
	n := copy(r.args[:], args)
	return b.did(purego.SyscallN(function, r.args[:n]...))
}

func (b *binding) take() *results { return b.scratch.Get().(*results) }

func (b *binding) put(r *results) {
	r.out, r.in = nil, nil
	b.scratch.Put(r)
}

// open loads a library and joins the job with full thread support, since calls may come from any goroutine.
func open() (topology.MPI, error) {
	handle, name, err := load()
	if err != nil {
		return nil, err
	}
	b := &binding{scratch: sync.Pool{New: func() any { return new(results) }}}
	if err := checkABI(handle); err != nil {
		return nil, fmt.Errorf("MPI: %s: %w", name, err)
	}
	if err := b.find(handle); err != nil {
		return nil, fmt.Errorf("MPI: %s: %w", name, err)
	}
	b.library = text(b.libraryVersion) + ", " + name
	if err := b.start(); err != nil {
		return nil, fmt.Errorf("MPI: %s: %w", b.library, err)
	}
	return b, nil
}

// start joins the job.
func (b *binding) start() error {
	n := new(int32)
	if err := b.did(purego.SyscallN(b.initThread, 0, 0, threadMultiple, uintptr(unsafe.Pointer(n)))); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if *n < threadMultiple {
		return fmt.Errorf("the library gives thread level %d, MPI_THREAD_MULTIPLE (%d) is needed", *n, threadMultiple)
	}
	// Errors end the process unless they are asked for.
	if err := b.did(purego.SyscallN(b.setErrhandler, commWorld, errorsReturn)); err != nil {
		return fmt.Errorf("error handler: %w", err)
	}
	if err := b.did(purego.SyscallN(b.commRank, commWorld, uintptr(unsafe.Pointer(n)))); err != nil {
		return fmt.Errorf("rank: %w", err)
	}
	b.rank = int(*n)
	if err := b.did(purego.SyscallN(b.commSize, commWorld, uintptr(unsafe.Pointer(n)))); err != nil {
		return fmt.Errorf("size: %w", err)
	}
	b.size = int(*n)
	mail := new(uintptr)
	if err := b.did(purego.SyscallN(b.commDup, commWorld, uintptr(unsafe.Pointer(mail)))); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	b.mail = *mail
	return nil
}

// did is failure for all results of a call.
func (b *binding) did(code, _, _ uintptr) error { return b.failure(code) }

func (b *binding) Library() string { return b.library }

func (b *binding) Rank() int { return b.rank }

func (b *binding) Size() int { return b.size }

func (b *binding) Finalize() { purego.SyscallN(b.finalize) }

func (b *binding) Exit(code int) { purego.SyscallN(b.exit, uintptr(code)) }

func (b *binding) Abort() { purego.SyscallN(b.abort, commWorld, 1) }

func (b *binding) Send(values []float32, to, tag int) error {
	r := b.take()
	defer b.put(r)
	r.out = unsafe.Pointer(unsafe.SliceData(values))
	return b.call(r, b.send, uintptr(r.out), uintptr(len(values)), float, uintptr(to), uintptr(tag), commWorld)
}

func (b *binding) Recv(values []float32, from int) (topology.Received, error) {
	r := b.take()
	defer b.put(r)
	r.in = unsafe.Pointer(unsafe.SliceData(values))
	err := b.call(r, b.recv, uintptr(r.in), uintptr(len(values)), float, uintptr(from), anyTag, commWorld, uintptr(unsafe.Pointer(&r.status)))
	return b.received(r, err)
}

func (b *binding) SendRecv(send []float32, to, tag int, recv []float32, from int) (topology.Received, error) {
	r := b.take()
	defer b.put(r)
	r.out, r.in = unsafe.Pointer(unsafe.SliceData(send)), unsafe.Pointer(unsafe.SliceData(recv))
	err := b.call(r, b.sendrecv, uintptr(r.out), uintptr(len(send)), float, uintptr(to), uintptr(tag),
		uintptr(r.in), uintptr(len(recv)), float, uintptr(from), anyTag, commWorld, uintptr(unsafe.Pointer(&r.status)))
	return b.received(r, err)
}

// received reads what a receive has found.
func (b *binding) received(r *results, err error) (topology.Received, error) {
	if err == nil {
		err = b.count(r, float)
	}
	return topology.Received{Values: int(r.count), Tag: int(r.status.tag)}, err
}

// count sets the number of values of a message.
func (b *binding) count(r *results, kind uintptr) error {
	return b.call(r, b.getCount, uintptr(unsafe.Pointer(&r.status)), kind, uintptr(unsafe.Pointer(&r.count)))
}

// look takes a message out of the queue, if one is there, and sets its length.
func (b *binding) look(r *results, from int, tag, communicator, kind uintptr) (found bool, err error) {
	err = b.call(r, b.improbe, uintptr(from), tag, communicator, uintptr(unsafe.Pointer(&r.found)), uintptr(unsafe.Pointer(&r.message)),
		uintptr(unsafe.Pointer(&r.status)))
	if err != nil || r.found == 0 {
		return false, err
	}
	return true, b.count(r, kind)
}

func (b *binding) Drop(from int) (tag int, found bool, err error) {
	r := b.take()
	defer b.put(r)
	if found, err = b.look(r, from, anyTag, commWorld, float); err != nil || !found {
		return 0, found, err
	}
	tag = int(r.status.tag)
	values := make([]float32, r.count)
	err = b.did(purego.SyscallN(b.mrecv, uintptr(unsafe.Pointer(unsafe.SliceData(values))), uintptr(len(values)), float, uintptr(unsafe.Pointer(&r.message)),
		uintptr(unsafe.Pointer(&r.status))))
	return tag, true, err
}

func (b *binding) Post(to int, text []byte) error {
	err := b.did(purego.SyscallN(b.send, uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), oneByte, uintptr(to), 0, b.mail))
	if err != nil {
		return fmt.Errorf("MPI: mail to rank %d: %w", to, err)
	}
	return nil
}

func (b *binding) Fetch(from int) (text []byte, ok bool, err error) {
	r := b.take()
	defer b.put(r)
	found, err := b.look(r, from, 0, b.mail, oneByte)
	if found && err == nil {
		text = make([]byte, r.count)
		err = b.did(purego.SyscallN(b.mrecv, uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), oneByte, uintptr(unsafe.Pointer(&r.message)),
			uintptr(unsafe.Pointer(&r.status))))
	}
	if err != nil {
		return nil, false, fmt.Errorf("MPI: mail of rank %d: %w", from, err)
	}
	return text, found, nil
}
