//go:build mpi && cgo

package topology

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

func openMail() error { return mpiError("mail", C.sw_mail_open()) }

func post(to int, text []byte) error {
	return mpiError(fmt.Sprintf("mail to rank %d", to), C.sw_mail_post(unsafe.Pointer(unsafe.SliceData(text)), C.int(len(text)), C.int(to)))
}

func fetch(from int) (text []byte, ok bool, err error) {
	var found, n C.int
	var message C.MPI_Message
	if err := mpiError(fmt.Sprintf("mail of rank %d", from), C.sw_mail_look(C.int(from), &found, &message, &n)); err != nil || found == 0 {
		return nil, false, err
	}
	text = make([]byte, n)
	err = mpiError(fmt.Sprintf("mail of rank %d", from), C.sw_mail_take(unsafe.Pointer(unsafe.SliceData(text)), n, &message))
	return text, err == nil, err
}
