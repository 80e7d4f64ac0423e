package net

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAround: a net calls its hook around every layer, also around Backward of a layer that needs none, and an error of the hook ends the run.
func TestAround(t *testing.T) {
	n, err := build(t, head+`
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 4 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }`)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	n.Around(func(i int, backward, after bool) error {
		calls = append(calls, fmt.Sprint(i, backward, after))
		return nil
	})
	if _, err := n.ForwardBackward(); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprint(i, false, false), fmt.Sprint(i, false, true))
	}
	for i := range 3 {
		want = append(want, fmt.Sprint(2-i, true, false), fmt.Sprint(2-i, true, true))
	}
	if !slices.Equal(calls, want) {
		t.Errorf("the hook was called with %v, want %v", calls, want)
	}
	tired := errors.New("tired")
	for _, backward := range []bool{false, true} {
		for _, when := range []bool{false, true} {
			n.Around(func(i int, b, after bool) error {
				if i == 1 && b == backward && after == when {
					return tired
				}
				return nil
			})
			if _, err := n.ForwardBackward(); !errors.Is(err, tired) || !strings.Contains(err.Error(), `layer "ip"`) {
				t.Errorf("backward %t, after %t: %v, want an error that names layer \"ip\"", backward, when, err)
			}
		}
	}
	n.Around(nil)
	if _, err := n.ForwardBackward(); err != nil {
		t.Error(err)
	}
}
