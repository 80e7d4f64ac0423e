package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// failure is an error with its HTTP status.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failf(status int, format string, args ...any) error {
	return &failure{status, fmt.Errorf(format, args...)}
}

// badf is an error of the request. An error of the request in args keeps its status.
func badf(format string, args ...any) error {
	err, inner := fmt.Errorf(format, args...), (*failure)(nil)
	if errors.As(err, &inner) {
		return &failure{inner.status, err}
	}
	return &failure{http.StatusBadRequest, err}
}

// statusClientClosedRequest is the usual number for requests whose clients wait for no answer any more, or have sent no more of the body.
const statusClientClosedRequest = 499

// statusOf returns the HTTP status that an error is answered with.
func statusOf(err error) int {
	var f *failure
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, context.Canceled):
		return statusClientClosedRequest
	}
	return http.StatusInternalServerError
}
