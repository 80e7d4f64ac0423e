package pages

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestCgroupLimit: the smallest limit of a process's group and its ancestors counts, together with the swap that it permits.
func TestCgroupLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name, groups string
		files        fstest.MapFS
		want         float64
	}{
		{"no files", "0::/a/b\n", fstest.MapFS{}, math.Inf(1)},
		{"version 2", "0::/a/b\n", fstest.MapFS{"a/b/memory.max": file("5000\n")}, 5100},
		{"no limit", "0::/a\n", fstest.MapFS{"a/memory.max": file("max\n")}, math.Inf(1)},
		{"the group above", "0::/a/b\n", fstest.MapFS{"a/b/memory.max": file("max\n"), "a/memory.max": file("3000\n")}, 3100},
		{"no swap", "0::/a\n", fstest.MapFS{"a/memory.max": file("5000\n"), "a/memory.swap.max": file("0\n")}, 5000},
		{"a container's own mount", "0::/../../x/y\n", fstest.MapFS{"memory.max": file("7000\n")}, 7100},
		{"version 1", "9:name=systemd:/\n4:memory:/a\n0::/\n", fstest.MapFS{"memory/a/memory.limit_in_bytes": file("4000\n")}, 4100},
		{"version 1, with swap", "4:cpu,memory:/a\n", fstest.MapFS{"memory/a/memory.limit_in_bytes": file("4000\n"), "memory/a/memory.memsw.limit_in_bytes": file("4010\n")}, 4010},
		{"version 1, above", "4:memory:/a/b\n", fstest.MapFS{"memory/memory.limit_in_bytes": file("2000\n")}, 2100},
	} {
		if got := cgroupLimit(c.files, c.groups, 100); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
