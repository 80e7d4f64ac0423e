//go:build mpi && cgo

package topology

/*
#cgo pkg-config: ompi
#include <stdlib.h>
#include <mpi.h>

// empi leaves MPI's errors fatal; with this they come back as codes.
static int sw_return_errors(void) { return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }

static int sw_thread_level(int *level) { return MPI_Query_thread(level); }

// empi's Abort exits with 0, which a scheduler takes for success.
static void sw_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }

static int sw_send(void *data, int n, int to) { return MPI_Send(data, n, MPI_FLOAT, to, 0, MPI_COMM_WORLD); }

// Receives up to n values; got is how many came, tag that of the message.
static int sw_recv(void *data, int n, int from, int *got, int *tag) {
	MPI_Status status;
	int code = MPI_Recv(data, n, MPI_FLOAT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	*tag = status.MPI_TAG;
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
}

static int sw_sendrecv(void *out, int sends, int to, void *in, int n, int from, int *got, int *tag) {
	MPI_Status status;
	int code = MPI_Sendrecv(out, sends, MPI_FLOAT, to, 0, in, n, MPI_FLOAT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	*tag = status.MPI_TAG;
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
}

// Sends a message without values.
static int sw_mark(int to, int tag) { return MPI_Send(NULL, 0, MPI_FLOAT, to, tag, MPI_COMM_WORLD); }

// Takes a message, if one is there, and drops its values; found is whether one was.
static int sw_drop(int from, int *found, int *tag) {
	MPI_Message message;
	MPI_Status status;
	int n = 0, code = MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, found, &message, &status);
	if (code != MPI_SUCCESS || !*found) return code;
	*tag = status.MPI_TAG;
	if ((code = MPI_Get_count(&status, MPI_FLOAT, &n)) != MPI_SUCCESS) return code;
	void *values = malloc(n > 0 ? n * sizeof(float) : 1);
	code = MPI_Mrecv(values, n, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
	free(values);
	return code;
}

static int sw_thread_multiple(void) { return MPI_THREAD_MULTIPLE; }

// Writes the text of a code into text, which holds size bytes.
static void sw_error_text(int code, char *text, int size) {
	char full[MPI_MAX_ERROR_STRING];
	int n = 0;
	MPI_Error_string(code, full, &n);
	int i = 0;
	for (; i < n && i < size - 1; i++) text[i] = full[i];
	text[i] = 0;
}
*/
import "C"

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/emer/empi/v2/mpi"
)

// HasMPI reports whether this build can join an MPI job.
func HasMPI() bool { return true }

// OpenMPI joins this process's MPI job; a process that was not started by mpirun is a job of one rank. Call it only once. Calls may come from
// any goroutine: OpenMPI asks the library for full thread support.
func OpenMPI() (*MPIJob, error) {
	if err := mpi.InitThreadSafe(); err != nil {
		return nil, fmt.Errorf("MPI: %w", err)
	}
	var level C.int
	if err := mpiError("thread level", C.sw_thread_level(&level)); err != nil {
		return nil, err
	}
	if level < C.sw_thread_multiple() {
		return nil, fmt.Errorf("MPI: the library gives thread level %d, MPI_THREAD_MULTIPLE (%d) is needed", level, C.sw_thread_multiple())
	}
	if err := mpiError("error handler", C.sw_return_errors()); err != nil {
		return nil, err
	}
	if err := openMail(); err != nil {
		return nil, err
	}
	t := &mpiRank{rank: mpi.WorldRank(), size: mpi.WorldSize()}
	t.ended = make([]atomic.Int32, t.size)
	return &MPIJob{
		Transport: t, library: library(), finalize: mpi.Finalize, abort: func() { C.sw_abort() }, end: t.end, tellWaits: t.tellWaits, post: post, fetch: fetch,
	}, nil
}

// mpiRank sends with MPI's blocking calls. empi has no send-receive, and panics on empty slices; the C functions above avoid both.
//
// Messages have tag 0. A rank's last message has no values, and its tag is 1 plus the rank's outcome. A receive therefore fails if the other
// side's work has ended, but messages sent before are still received.
type mpiRank struct {
	rank, size int
	ended      []atomic.Int32 // tag of each rank's last message; 0: not received yet
	waits      *waits         // nil: waits are not reported
}

func (t *mpiRank) tellWaits(tell func(line string)) {
	t.waits = newWaits(t.rank, t.size, tell)
	go t.waits.follow()
}

func (t *mpiRank) Rank() int { return t.rank }

func (t *mpiRank) Size() int { return t.size }

func (t *mpiRank) Send(to int, data []float32) error {
	if err := t.check(to, "send to", data); err != nil {
		return err
	}
	t.waits.begin(waitSend, to)
	defer t.waits.end(waitSend, to)
	return mpiError(fmt.Sprintf("send to rank %d", to), C.sw_send(pointer(data), C.int(len(data)), C.int(to)))
}

func (t *mpiRank) Recv(from int, data []float32) error {
	if err := t.check(from, "receive from", data); err != nil {
		return err
	}
	if t.ended[from].Load() != 0 {
		return t.gone(from)
	}
	var got, tag C.int
	t.waits.begin(waitRecv, from)
	code := C.sw_recv(pointer(data), C.int(len(data)), C.int(from), &got, &tag)
	t.waits.end(waitRecv, from)
	return t.received(from, data, int(got), int(tag), code)
}

func (t *mpiRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	if err := t.check(to, "send to", send); err != nil {
		return err
	}
	if err := t.check(from, "receive from", recv); err != nil {
		return err
	}
	if t.ended[from].Load() != 0 {
		return t.gone(from)
	}
	var got, tag C.int
	t.waits.begin(waitRecv, from)
	code := C.sw_sendrecv(pointer(send), C.int(len(send)), C.int(to), pointer(recv), C.int(len(recv)), C.int(from), &got, &tag)
	t.waits.end(waitRecv, from)
	return t.received(from, recv, int(got), int(tag), code)
}

func (t *mpiRank) check(peer int, verb string, data []float32) error {
	if len(data) > math.MaxInt32 {
		return fmt.Errorf("topology: rank %d cannot %s rank %d %d values at once; MPI counts to %d", t.rank, verb, peer, len(data), math.MaxInt32)
	}
	return checkPeer(t.rank, t.size, peer, verb)
}

// received checks the number of received values; MPI itself reports a message that is too long as truncated.
func (t *mpiRank) received(from int, data []float32, got, tag int, code C.int) error {
	if err := mpiError(fmt.Sprintf("receive %d values from rank %d", len(data), from), code); err != nil {
		return err
	}
	if tag != 0 {
		t.ended[from].Store(int32(tag))
		return t.gone(from)
	}
	if got != len(data) {
		return lengthError(from, t.rank, got, len(data))
	}
	return nil
}

// gone is the error of a call whose other side's work has ended.
func (t *mpiRank) gone(from int) error { return fmt.Errorf("%w: rank %d has ended", ErrAborted, from) }

// end implements MPIJob.End. It receives messages that are still sent until the others' work has ended too.
func (t *mpiRank) end(o outcome, patience time.Duration) (first bool) {
	last := time.Now().Add(patience)
	for to := range t.size {
		if to != t.rank {
			C.sw_mark(C.int(to), C.int(1+o))
		}
	}
	t.ended[t.rank].Store(int32(1 + o))
	for !t.allEnded() && (o == done || time.Now().Before(last)) {
		time.Sleep(time.Millisecond)
	}
	for r := range t.rank {
		if t.ended[r].Load() >= int32(1+o) {
			return false
		}
	}
	for r := t.rank + 1; r < t.size; r++ {
		if t.ended[r].Load() > int32(1+o) {
			return false
		}
	}
	return o != done
}

// allEnded receives the available messages, and reports whether each rank's last one has come.
func (t *mpiRank) allEnded() bool {
	all := true
	for from := range t.ended {
		for t.ended[from].Load() == 0 {
			var found, tag C.int
			if C.sw_drop(C.int(from), &found, &tag) != 0 || found == 0 {
				all = false
				break
			}
			t.ended[from].CompareAndSwap(0, int32(tag))
		}
	}
	return all
}

// library returns the first line of what the MPI library says of itself.
func library() string {
	var text [C.MPI_MAX_LIBRARY_VERSION_STRING]C.char
	var n C.int
	C.MPI_Get_library_version(&text[0], &n)
	line, _, _ := strings.Cut(C.GoString(&text[0]), "\n")
	return line
}

func pointer(data []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(data)) }

func mpiError(doing string, code C.int) error {
	if code == 0 {
		return nil
	}
	var text [256]C.char
	C.sw_error_text(code, &text[0], C.int(len(text)))
	return fmt.Errorf("MPI: %s: %s", doing, C.GoString(&text[0]))
}
