package pages

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// cgroupLimit returns the bytes of memory and swap that the process's control groups permit, infinity without a limit. files is
// the file system at /sys/fs/cgroup, groups the text of /proc/self/cgroup, and swap the computer's swap space. The limits of all
// ancestors of the group count too. In a container, the mount often starts at the container's own group, and the group's path
// does not exist; the walk up then ends there.
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

// unifiedLimit returns the limit of one version 2 group.
func unifiedLimit(files fs.FS, dir string, swap float64) float64 {
	return number(files, dir, "memory.max") + min(swap, number(files, dir, "memory.swap.max"))
}

// memoryLimit returns the limit of one version 1 group.
func memoryLimit(files fs.FS, dir string, swap float64) float64 {
	return min(number(files, dir, "memory.limit_in_bytes")+swap, number(files, dir, "memory.memsw.limit_in_bytes"))
}

// number reads a file with one number, infinity if there is none.
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
