package validation_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

var decimal = regexp.MustCompile(`-?[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?`)

// sameButRounding compares two texts: their words must be the same, their numbers may differ by a part in 10,000. Processors that fuse multiplications with
// additions round otherwise.
func sameButRounding(a, b []byte) error {
	const much = 1e-4
	x, y := decimal.FindAllString(string(a), -1), decimal.FindAllString(string(b), -1)
	if decimal.ReplaceAllString(string(a), "#") != decimal.ReplaceAllString(string(b), "#") {
		return fmt.Errorf("it has other words, or lines in another order")
	}
	for i := range x {
		v, err := strconv.ParseFloat(x[i], 64)
		if err != nil {
			return err
		}
		w, err := strconv.ParseFloat(y[i], 64)
		if err != nil {
			return err
		}
		if math.Abs(v-w) > much*max(1, math.Abs(v)) {
			return fmt.Errorf("number %d of %d is %s, was %s", i, len(x), y[i], x[i])
		}
	}
	return nil
}

// TestSameButRounding: words, their order, and numbers that differ by more than rounding, are told apart.
func TestSameButRounding(t *testing.T) {
	const kept = `<path d="M10.5,20.25L-3e-05,4"/> swdnn`
	for text, same := range map[string]bool{
		kept: true, `<path d="M10.5004,20.2499L-4e-05,4"/> swdnn`: true, `<path d="M10.6,20.25L-3e-05,4"/> swdnn`: false,
		`<path d="M10.5,20.25L-3e-05,4"/> swgemm`: false, `<path d="M10.5,20.25L-3e-05"/> swdnn`: false, `<path d="M10.5,20.25,-3e-05L4"/> swdnn`: false,
	} {
		if err := sameButRounding([]byte(kept), []byte(text)); (err == nil) != same {
			t.Errorf("%s: %v", text, err)
		}
	}
}
