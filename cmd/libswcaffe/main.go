// Command libswcaffe is the C library behind the Python module caffe (python/caffe):
//
//	go build -buildmode=c-shared -o python/caffe/libswcaffe.so ./cmd/libswcaffe
//
// It exports cmd/internal/python, whose comment says how memory, lifetimes and threads work, and all commands of the binary
// (sw_main). It needs cgo; the binary, cmd/swcaffe, does not.
//
// The exported functions follow these rules:
//
//   - Numbers called handle stand for objects. sw_release ends the use of one.
//   - Functions that return int64_t return 0, or the number of an error that sw_error describes.
//   - Functions that return char* return JSON, {"result": ..., "fault": ...}, in memory that the caller passes to sw_free.
//   - A Go panic becomes an error. No function exits, except sw_main's commands that end by a signal.
package main

/*
#include <stdint.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <pthread.h>
#endif

typedef struct {
	uint64_t address;
	int64_t axes;
	int64_t shape[32];
} sw_view;

typedef void (*sw_callback)(int32_t op, int64_t key, const char *text, const uint8_t *flags, int64_t count, int64_t *exception);

static int64_t call(sw_callback f, int32_t op, int64_t key, const char *text, const uint8_t *flags, int64_t count) {
	int64_t exception = -1;
	f(op, key, text, flags, count, &exception);
	return exception;
}

#ifdef _WIN32
static uintptr_t thread(void) { return GetCurrentThreadId(); }
#else
static uintptr_t thread(void) { return (uintptr_t)pthread_self(); }
#endif
*/
import "C"

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cmd/internal/all"
	"github.com/swcaffe/swcaffe/cmd/internal/python"
)

func init() {
	python.Thread = func() uintptr { return uintptr(C.thread()) }
}

// main is not called in a library.
func main() {}

// sw_start sets the function that handles events in Python. The function sets exception, which is -1 before, to 0 or to the key of the
// exception that was raised.
//
//export sw_start
func sw_start(f C.sw_callback) {
	python.Callback = func(op python.Op, key int64, text string, flags []byte) int64 {
		var words *C.char
		if text != "" {
			words = C.CString(text)
			defer C.free(unsafe.Pointer(words))
		}
		return int64(C.call(f, C.int32_t(op), C.int64_t(key), words, (*C.uint8_t)(unsafe.SliceData(flags)), C.int64_t(len(flags))))
	}
}

// sw_stop is called when Python ends. Threads that want to call Python from now on wait until the process is gone.
//
//export sw_stop
func sw_stop() {
	python.Callback = func(python.Op, int64, string, []byte) int64 { select {} }
}

// sw_call runs a function by name with arguments in JSON.
//
//export sw_call
func sw_call(name, arguments *C.char) *C.char {
	return C.CString(string(python.Call(C.GoString(name), []byte(C.GoString(arguments)))))
}

// sw_error describes the error of a number, and forgets it.
//
//export sw_error
func sw_error(number C.int64_t) *C.char {
	return C.CString(string(python.Describe(int64(number))))
}

//export sw_free
func sw_free(text *C.char) { C.free(unsafe.Pointer(text)) }

//export sw_release
func sw_release(handle C.uint64_t) { python.Release(python.Handle(handle)) }

// sw_look describes the memory of a blob's values, or of its gradient, and keeps it in place until sw_forget.
//
//export sw_look
func sw_look(handle C.uint64_t, diff C.int32_t, view *C.sw_view) C.int64_t {
	v, err := python.Look(python.Handle(handle), diff != 0)
	if err == nil {
		view.address = C.uint64_t(v.Address)
		setShape(view, v.Shape)
	}
	return C.int64_t(python.Keep(err))
}

// sw_shape is sw_look for the shape alone; it keeps nothing in place.
//
//export sw_shape
func sw_shape(handle C.uint64_t, view *C.sw_view) C.int64_t {
	shape, err := python.Shape(python.Handle(handle))
	setShape(view, shape)
	return C.int64_t(python.Keep(err))
}

func setShape(view *C.sw_view, shape []int) {
	view.axes = C.int64_t(len(shape))
	for i, n := range shape {
		view.shape[i] = C.int64_t(n)
	}
}

//export sw_forget
func sw_forget(address C.uint64_t) { python.Forget(uintptr(address)) }

//export sw_reshape
func sw_reshape(handle C.uint64_t, shape *C.int64_t, axes C.int64_t) C.int64_t {
	list := make([]int, axes)
	for i, n := range unsafe.Slice(shape, int(axes)) {
		list[i] = int(n)
	}
	return C.int64_t(python.Keep(python.Reshape(python.Handle(handle), list)))
}

// sw_forward runs layers first to last and sets their loss.
//
//export sw_forward
func sw_forward(handle C.uint64_t, first, last C.int64_t, loss *C.double) C.int64_t {
	l, err := python.Forward(python.Handle(handle), int(first), int(last))
	*loss = C.double(l)
	return C.int64_t(python.Keep(err))
}

// sw_backward runs layers first down to last.
//
//export sw_backward
func sw_backward(handle C.uint64_t, first, last C.int64_t) C.int64_t {
	return C.int64_t(python.Keep(python.Backward(python.Handle(handle), int(first), int(last))))
}

// sw_feed gives count values and the labels of items to a MemoryData layer, which keeps their addresses.
//
//export sw_feed
func sw_feed(handle C.uint64_t, values unsafe.Pointer, count C.int64_t, labels unsafe.Pointer, items C.int64_t) C.int64_t {
	return C.int64_t(python.Keep(python.Feed(python.Handle(handle), values, int(count), labels, int(items))))
}

// sw_step runs a solver's iterations and sets the loss and the learning rate of the last one.
//
//export sw_step
func sw_step(handle C.uint64_t, iterations C.int64_t, loss, rate *C.double) C.int64_t {
	l, r, err := python.Step(python.Handle(handle), int(iterations))
	*loss, *rate = C.double(l), C.double(r)
	return C.int64_t(python.Keep(err))
}

// sw_main runs a command line of the binary and returns its exit code, 2 after a panic. words[0] is the name by which the program was called.
//
//export sw_main
func sw_main(words **C.char, count C.int64_t) C.int64_t {
	var list []string
	for _, w := range unsafe.Slice(words, int(count)) {
		list = append(list, C.GoString(w))
	}
	return C.int64_t(python.Exit(func() int { return all.Commands.MainAs(list[0], list[1:]) }))
}
