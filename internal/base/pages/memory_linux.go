package pages

import (
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// memory returns the result of Memory, and whether a limit leaves the process less than the computer has.
var memory = sync.OnceValues(func() (bytes float64, limited bool) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return math.Inf(1), false
	}
	swap := float64(info.Totalswap) * float64(info.Unit)
	all := float64(info.Totalram)*float64(info.Unit) + swap
	bytes = min(all, math.MaxInt) // addresses of 32 bits reach no further
	if groups, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		bytes = min(bytes, cgroupLimit(os.DirFS("/sys/fs/cgroup"), string(groups), swap))
	}
	for _, resource := range []int{unix.RLIMIT_AS, unix.RLIMIT_DATA} {
		var limit unix.Rlimit
		if err := unix.Getrlimit(resource, &limit); err == nil && limit.Cur != unix.RLIM_INFINITY {
			bytes = min(bytes, float64(limit.Cur))
		}
	}
	return bytes, bytes < all
})

// available returns the memory that the kernel could give without swapping, and the free swap.
func available() float64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return math.Inf(1)
	}
	return freeOf(string(text))
}

// freeOf reads the text of /proc/meminfo.
func freeOf(text string) float64 {
	free, found := 0., false
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if name != "MemAvailable" && name != "SwapFree" || len(fields) == 0 {
			continue
		}
		if kilobytes, err := strconv.ParseFloat(fields[0], 64); err == nil {
			free, found = free+1024*kilobytes, true
		}
	}
	if !found {
		return math.Inf(1)
	}
	return free
}
