package cpe

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// detectHost completes a description from this computer: a core group for every core to use, and its caches.
func detectHost(s Spec) Spec {
	s.CoreGroups = hostCores()
	return s.withCaches(hostCaches(), runtime.NumCPU())
}

// withCaches replaces a description's caches by those that the system lists for one of its processors, if it lists any. A core has an equal part of an L2
// cache that it shares with other cores, as in groups of four on many ARM processors, but no less than leastL2. All L3 caches count, one for so many
// processors as share it.
func (s Spec) withCaches(list []cache, processors int) Spec {
	threads := 1 // of a core; the system counts each as a processor
	for _, c := range list {
		if c.level == 1 && c.data {
			s.L1Bytes, s.L3Bytes, threads = c.bytes, 0, c.sharers
		}
	}
	for _, c := range list {
		switch c.level {
		case 2:
			s.LDMBytes = max(c.bytes/max(1, c.sharers/threads), min(c.bytes, leastL2))
		case 3:
			s.L3Bytes = c.bytes * ((processors + c.sharers - 1) / c.sharers)
		}
	}
	return s
}

// leastL2 is the least part of an L2 cache of a core. Virtual machines may list one cache for all of their processors.
const leastL2 = 128 << 10

// maxCores limits the number of cores to use, unless the computer has more. Every one is a busy thread and holds memory for its tiles.
const maxCores = 1024

// CheckCores returns an error unless a number of this computer's cores can be used; 0 stands for all.
func CheckCores(n int) error {
	switch most := max(maxCores, runtime.NumCPU()); {
	case n < 0:
		return fmt.Errorf("%d: the number of cores cannot be negative", n)
	case n > most:
		return fmt.Errorf("%d: this computer has %d cores; at most %d are accepted", n, runtime.NumCPU(), most)
	}
	return nil
}

// hostCaches are the caches of this computer. Reading them takes a millisecond, which every new device would wait for.
var hostCaches = sync.OnceValue(func() []cache { return caches("/sys/devices/system/cpu/cpu0/cache") })

type cache struct {
	level, bytes int
	data         bool
	sharers      int // number of processors that share it
}

// caches reads a CPU's cache descriptions from Linux's /sys.
func caches(dir string) []cache {
	var found []cache
	var text [4096]byte // /sys gives every file a size of 4096 bytes, which os.ReadFile would allocate for each
	indices, _ := filepath.Glob(filepath.Join(dir, "index*"))
	for _, index := range indices {
		read := func(name string) string {
			file, err := os.Open(filepath.Join(index, name))
			if err != nil {
				return ""
			}
			defer file.Close()
			n, _ := file.Read(text[:])
			return strings.TrimSpace(string(text[:n]))
		}
		level, err := strconv.Atoi(read("level"))
		bytes := cacheBytes(read("size"))
		if err != nil || bytes == 0 {
			continue
		}
		found = append(found, cache{level, bytes, read("type") != "Instruction", processorsIn(read("shared_cpu_list"))})
	}
	return found
}

// processorsIn counts a list of numbers and ranges such as "0-3,8", 1 for other text.
func processorsIn(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last, err2 := first, error(nil)
		if isRange {
			last, err2 = strconv.Atoi(to)
		}
		if err != nil || err2 != nil || last < first {
			return 1
		}
		n += last - first + 1
	}
	return n
}

// cacheBytes parses sizes such as "48K" or "32M"; it returns 0 for other text.
func cacheBytes(size string) int {
	unit := 1
	switch {
	case strings.HasSuffix(size, "K"):
		unit = 1 << 10
	case strings.HasSuffix(size, "M"):
		unit = 1 << 20
	}
	n, err := strconv.Atoi(strings.TrimRight(size, "KM"))
	if err != nil || n < 0 {
		return 0
	}
	return n * unit
}
