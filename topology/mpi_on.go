//go:build mpi && cgo

package topology

/*
#cgo pkg-config: ompi
#include <mpi.h>

// empi leaves MPI's errors fatal; with this they come back as codes.
static int sw_return_errors(void) { return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }

static int sw_thread_level(int *level) { return MPI_Query_thread(level); }

// empi's Abort exits with 0, which a scheduler takes for success.
static void sw_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }

static int sw_send(void *data, int n, int to) { return MPI_Send(data, n, MPI_FLOAT, to, 0, MPI_COMM_WORLD); }

// Receives up to n values; got is how many came.
static int sw_recv(void *data, int n, int from, int *got) {
	MPI_Status status;
	int code = MPI_Recv(data, n, MPI_FLOAT, from, 0, MPI_COMM_WORLD, &status);
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
}

static int sw_sendrecv(void *out, int sends, int to, void *in, int n, int from, int *got) {
	MPI_Status status;
	int code = MPI_Sendrecv(out, sends, MPI_FLOAT, to, 0, in, n, MPI_FLOAT, from, 0, MPI_COMM_WORLD, &status);
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
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
	"unsafe"

	"github.com/emer/empi/v2/mpi"
)

// OpenMPI joins the MPI job that this process belongs to; a process that was not started by mpirun is a job of one rank. It may be
// called once. Calls may come from any goroutine: the library is asked for full thread support.
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
	t := &mpiRank{rank: mpi.WorldRank(), size: mpi.WorldSize()}
	return &MPIJob{Transport: t, finalize: mpi.Finalize, abort: func() { C.sw_abort() }}, nil
}

// mpiRank sends with MPI's blocking calls. empi has no send-receive, and panics on empty slices, hence the calls above.
type mpiRank struct{ rank, size int }

func (t *mpiRank) Rank() int { return t.rank }

func (t *mpiRank) Size() int { return t.size }

func (t *mpiRank) Send(to int, data []float32) error {
	if err := t.check(to, "send to", data); err != nil {
		return err
	}
	return mpiError(fmt.Sprintf("send to rank %d", to), C.sw_send(pointer(data), C.int(len(data)), C.int(to)))
}

func (t *mpiRank) Recv(from int, data []float32) error {
	if err := t.check(from, "receive from", data); err != nil {
		return err
	}
	var got C.int
	code := C.sw_recv(pointer(data), C.int(len(data)), C.int(from), &got)
	return t.received(from, data, int(got), code)
}

func (t *mpiRank) SendRecv(to int, send []float32, from int, recv []float32) error {
	if err := t.check(to, "send to", send); err != nil {
		return err
	}
	if err := t.check(from, "receive from", recv); err != nil {
		return err
	}
	var got C.int
	code := C.sw_sendrecv(pointer(send), C.int(len(send)), C.int(to), pointer(recv), C.int(len(recv)), C.int(from), &got)
	return t.received(from, recv, int(got), code)
}

func (t *mpiRank) check(peer int, verb string, data []float32) error {
	if len(data) > math.MaxInt32 {
		return fmt.Errorf("topology: rank %d cannot %s rank %d %d values at once; MPI counts to %d", t.rank, verb, peer, len(data), math.MaxInt32)
	}
	return checkPeer(t.rank, t.size, peer, verb)
}

// received checks how many values came; MPI itself reports a message that is too long as truncated.
func (t *mpiRank) received(from int, data []float32, got int, code C.int) error {
	if err := mpiError(fmt.Sprintf("receive %d values from rank %d", len(data), from), code); err != nil {
		return err
	}
	if got != len(data) {
		return lengthError(from, t.rank, got, len(data))
	}
	return nil
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
