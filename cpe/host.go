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

// detectHost completes a description from this computer: a core group for every core to use, the LDM from the size of a core's L2
// cache, and the other caches. Figures that /sys does not give keep their values from the file.
func detectHost(s Spec) Spec {
	s.CoreGroups = hostCores()
	for _, c := range hostCaches() {
		switch {
		case c.level == 1 && c.data:
			s.L1Bytes = c.bytes
		case c.level == 2:
			s.LDMBytes = c.bytes
		case c.level == 3:
			s.L3Bytes = c.bytes
		}
	}
	return s
}

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
}

// caches reads a CPU's cache descriptions from Linux's /sys.
func caches(dir string) []cache {
	var found []cache
	var text [64]byte // /sys gives every file a size of 4096 bytes, which os.ReadFile would allocate
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
		found = append(found, cache{level, bytes, read("type") != "Instruction"})
	}
	return found
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
