//go:build mpi && cgo

package empi

/*
#include <mpi.h>

// The mail's communicator keeps its messages apart from the transport's.
static MPI_Comm mail = MPI_COMM_NULL;

static int sw_mail_open(void) { return MPI_Comm_dup(MPI_COMM_WORLD, &mail); }

static int sw_mail_post(const void *text, int n, int to) { return MPI_Send(text, n, MPI_BYTE, to, 0, mail); }

// found is whether a message is there, n its length.
static int sw_mail_look(int from, int *found, MPI_Message *message, int *n) {
	MPI_Status status;
	int code = MPI_Improbe(from, 0, mail, found, message, &status);
	return code != MPI_SUCCESS || !*found ? code : MPI_Get_count(&status, MPI_BYTE, n);
}

static int sw_mail_take(void *text, int n, MPI_Message *message) {
	return MPI_Mrecv(text, n, MPI_BYTE, message, MPI_STATUS_IGNORE);
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

func openMail() error { return failure(C.sw_mail_open()) }

func (binding) Post(to int, text []byte) error {
	if err := failure(C.sw_mail_post(unsafe.Pointer(unsafe.SliceData(text)), C.int(len(text)), C.int(to))); err != nil {
		return fmt.Errorf("MPI: mail to rank %d: %w", to, err)
	}
	return nil
}

func (binding) Fetch(from int) (text []byte, ok bool, err error) {
	var found, n C.int
	var message C.MPI_Message
	code := C.sw_mail_look(C.int(from), &found, &message, &n)
	if code == 0 && found != 0 {
		text = make([]byte, n)
		code = C.sw_mail_take(unsafe.Pointer(unsafe.SliceData(text)), n, &message)
	}
	if err := failure(code); err != nil {
		return nil, false, fmt.Errorf("MPI: mail of rank %d: %w", from, err)
	}
	return text, found != 0, nil
}
