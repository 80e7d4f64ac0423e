package pages

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// cgroupLimit returns how many bytes of memory and swap a process's control groups leave it, infinity where they set no limit. files is
// what is mounted at /sys/fs/cgroup, groups the text of /proc/self/cgroup, and swap the computer's. Every group above the process's own
// counts too. In a container the mount often begins at the container's own group, and the group's path leads nowhere; the walk up ends there.
func cgroupLimit(files fs.FS, groups string, swap float64) float64 {
	limit := math.Inf(1)
	for line := range strings.Lines(groups) {
		number, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		mount, limits := "", unifiedLimit
		switch {
		case number == "0" && controllers == "": // version 2
		case strings.Contains(","+controllers+",", ",memory,"):
			mount, limits = "memory", memoryLimit
		default:
			continue
		}
		for dir := path.Join(mount, path.Clean("/" + group)[1:]); ; dir = path.Dir(dir) {
			limit = min(limit, limits(files, dir, swap))
			if dir == mount || dir == "." {
				break
			}
		}
	}
	return limit
}

// unifiedLimit is the limit of one group of version 2.
func unifiedLimit(files fs.FS, dir string, swap float64) float64 {
	return number(files, dir, "memory.max") + min(swap, number(files, dir, "memory.swap.max"))
}

// memoryLimit is the limit of one group of version 1.
func memoryLimit(files fs.FS, dir string, swap float64) float64 {
	return min(number(files, dir, "memory.limit_in_bytes")+swap, number(files, dir, "memory.memsw.limit_in_bytes"))
}

// number reads a file with one number, infinity where there is none.
func number(files fs.FS, dir, name string) float64 {
	text, err := fs.ReadFile(files, path.Join(dir, name))
	if err != nil {
		return math.Inf(1)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return math.Inf(1)
	}
	return float64(n)
}
