//go:build mpi && cgo

package empi

/*
#cgo pkg-config: ompi
#include <stdlib.h>
#include <mpi.h>

// empi leaves MPI's errors fatal; with this they come back as codes.
static int sw_return_errors(void) { return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }

static int sw_thread_level(int *level) { return MPI_Query_thread(level); }

// empi's Abort exits with 0, which a scheduler takes for success.
static void sw_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }

static int sw_send(void *data, int n, int to, int tag) { return MPI_Send(data, n, MPI_FLOAT, to, tag, MPI_COMM_WORLD); }

// Receives up to n values; got is how many came, tag that of the message.
static int sw_recv(void *data, int n, int from, int *got, int *tag) {
	MPI_Status status;
	int code = MPI_Recv(data, n, MPI_FLOAT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	*tag = status.MPI_TAG;
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
}

static int sw_sendrecv(void *out, int sends, int to, int sendtag, void *in, int n, int from, int *got, int *tag) {
	MPI_Status status;
	int code = MPI_Sendrecv(out, sends, MPI_FLOAT, to, sendtag, in, n, MPI_FLOAT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	*tag = status.MPI_TAG;
	return code != MPI_SUCCESS ? code : MPI_Get_count(&status, MPI_FLOAT, got);
}

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
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/emer/empi/v2/mpi"
	"github.com/swcaffe/swcaffe/topology"
)

func init() { topology.UseMPI(open) }

// open joins the job with full thread support, since calls may come from any goroutine.
func open() (topology.MPI, error) {
	if err := mpi.InitThreadSafe(); err != nil {
		return nil, fmt.Errorf("MPI: %w", err)
	}
	var level C.int
	if err := failure(C.sw_thread_level(&level)); err != nil {
		return nil, fmt.Errorf("MPI: thread level: %w", err)
	}
	if level < C.sw_thread_multiple() {
		return nil, fmt.Errorf("MPI: the library gives thread level %d, MPI_THREAD_MULTIPLE (%d) is needed", level, C.sw_thread_multiple())
	}
	if err := failure(C.sw_return_errors()); err != nil {
		return nil, fmt.Errorf("MPI: error handler: %w", err)
	}
	if err := openMail(); err != nil {
		return nil, fmt.Errorf("MPI: mail: %w", err)
	}
	return binding{}, nil
}

type binding struct{}

func (binding) Rank() int { return mpi.WorldRank() }

func (binding) Size() int { return mpi.WorldSize() }

// leave is how long ranks do nothing before they leave a job of MPICH.
const leave = time.Second / 2

// Finalize leaves the job. In MPICH 4.0, connections by TCP end with a question to the other rank. A rank that has its answers waits for the launcher
// and answers no more: a rank whose last call of ours still ran when the other one asked, and so gave its answer early, would wait for ever. So all end
// their last calls first.
func (b binding) Finalize() {
	if strings.HasPrefix(b.Library(), "MPICH") {
		time.Sleep(leave)
	}
	mpi.Finalize()
}

func (binding) Exit(code int) { C.exit(C.int(code)) }

func (binding) Abort() { C.sw_abort() }

// Library returns the first line of what the MPI library says of itself.
func (binding) Library() string {
	var text [C.MPI_MAX_LIBRARY_VERSION_STRING]C.char
	var n C.int
	C.MPI_Get_library_version(&text[0], &n)
	line, _, _ := strings.Cut(C.GoString(&text[0]), "\n")
	return strings.Join(strings.Fields(line), " ")
}

func (binding) Send(values []float32, to, tag int) error {
	return failure(C.sw_send(pointer(values), C.int(len(values)), C.int(to), C.int(tag)))
}

func (binding) Recv(values []float32, from int) (topology.Received, error) {
	var got, tag C.int
	code := C.sw_recv(pointer(values), C.int(len(values)), C.int(from), &got, &tag)
	return topology.Received{Values: int(got), Tag: int(tag)}, failure(code)
}

func (binding) SendRecv(send []float32, to, tag int, recv []float32, from int) (topology.Received, error) {
	var got, other C.int
	code := C.sw_sendrecv(pointer(send), C.int(len(send)), C.int(to), C.int(tag), pointer(recv), C.int(len(recv)), C.int(from), &got, &other)
	return topology.Received{Values: int(got), Tag: int(other)}, failure(code)
}

func (binding) Drop(from int) (tag int, found bool, err error) {
	var there, t C.int
	err = failure(C.sw_drop(C.int(from), &there, &t))
	return int(t), there != 0, err
}

func pointer(values []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(values)) }

// failure is the error that a code stands for.
func failure(code C.int) error {
	if code == 0 {
		return nil
	}
	var text [256]C.char
	C.sw_error_text(code, &text[0], C.int(len(text)))
	return errors.New(C.GoString(&text[0]))
}
