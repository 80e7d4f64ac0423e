package cpe

import (
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// hostCores is the number of this computer's cores to use: as many as Go does (GOMAXPROCS), but one under a quota of one core or less. Go runs on two
// threads then, of which one would use up the other's time while it waits for it.
func hostCores() int {
	n := runtime.GOMAXPROCS(0)
	if quota := quotaOf("/proc/self/cgroup", "/sys/fs/cgroup"); n == 2 && os.Getenv("GOMAXPROCS") == "" && quota > 0 && quota <= 1 {
		return 1
	}
	return n
}

// quotaOf returns the least number of cores that a process's control group, and those above it, leave it, 0 if there is no limit. list is the file of its
// groups. Below root are version 2 of control groups, or a folder for each controller of version 1.
func quotaOf(list, root string) (least float64) {
	text, err := os.ReadFile(list)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		folder := path.Join(root, fields[1])
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			if q := quotaIn(path.Join(folder, at)); q > 0 && (least == 0 || q < least) {
				least = q
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// quotaIn returns the quota of one group in cores, 0 if it has none.
func quotaIn(folder string) float64 {
	read := func(name string) []string {
		text, _ := os.ReadFile(path.Join(folder, name)) // none: no words
		return strings.Fields(string(text))
	}
	words := append(read("cpu.max"), read("cpu.cfs_quota_us")...)
	words = append(words, read("cpu.cfs_period_us")...)
	if len(words) != 2 {
		return 0
	}
	quota, err := strconv.ParseFloat(words[0], 64) // "max", or -1: none
	period, err2 := strconv.ParseFloat(words[1], 64)
	if err != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0
	}
	return quota / period
}
