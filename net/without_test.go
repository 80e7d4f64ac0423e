package net

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/net/schedule"
)

// TestWithoutAPass: disabling any pass or fusion changes no result, and the disabled pass writes no note.
func TestWithoutAPass(t *testing.T) {
	text := images + conv3x3("x", "d", "32", "") + conv3x3("d", "a", "32", "") + reluA + pointwiseOf("b", "a", 32) + normed + sum("a", "b") + rectified + classifier
	build := func(economise bool, without ...string) *Net {
		return buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise, o.Without = shape.Winograd4, economise, without })
	}
	whole := build(true)
	for _, pass := range []string{"fuse", "finish", "gradients", "layout", "parts", "memory"} {
		if !notes(whole, pass) {
			t.Errorf("pass %s does nothing to the net that all passes are tested with", pass)
		}
	}
	for _, name := range schedule.Names() {
		t.Run(name, func(t *testing.T) {
			n := build(true, name)
			if notes(n, name) {
				t.Errorf("%v", n.Passes())
			}
			compareRuns(t, n, build(false))
		})
	}
}

// notes reports whether a pass or fusion has changed a net.
func notes(n *Net, name string) bool {
	return slices.ContainsFunc(n.Passes(), func(note schedule.Note) bool {
		_, fusions, _ := strings.Cut(strings.TrimSuffix(note.Did, ")"), "(")
		return note.Pass == name || note.Pass == "fuse" && slices.Contains(strings.Split(fusions, ", "), name)
	})
}

// TestWithoutNothingKnown: an unknown name of a pass is an error that lists the known names.
func TestWithoutNothingKnown(t *testing.T) {
	_, err := New(parse(t, images+classifier), Options{State: MergeState(0), Device: device(t), Without: []string{"fuze"}})
	if err == nil || !strings.Contains(err.Error(), `no pass or fusion "fuze" (there are fold, fuse, finish`) {
		t.Errorf("error %v", err)
	}
}
