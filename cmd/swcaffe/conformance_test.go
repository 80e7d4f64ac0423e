package main

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/internal/testkit/conformance/judge"
)

// TestConformance runs all cases by the command line, as users would.
func TestConformance(t *testing.T) {
	binary := buildBinary(t)
	conformance.Each(t, []string{"*"}, 350, func(t *testing.T, dir string) {
		t.Parallel()
		if err := judge.Run(binary, dir, t.TempDir()); err != nil {
			t.Error(err)
		}
	})
}
