package cpe

import (
	"os"
	"path/filepath"
	"testing"
)

// TestQuota: the least quota of a process's groups counts, of both versions; a group above may have it, and a group without a limit has none.
func TestQuota(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("one/two/cpu.max", "max 100000\n")
	write("one/cpu.max", "150000 100000\n")
	write("free/cpu.max", "max 100000\n")
	write("cpu,cpuacct/old/cpu.cfs_quota_us", "25000\n")
	write("cpu,cpuacct/old/cpu.cfs_period_us", "50000\n")
	write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
	write("cpu,cpuacct/cpu.cfs_period_us", "100000\n")
	for _, c := range []struct {
		groups string
		want   float64
	}{
		{"0::/one/two\n", 1.5}, {"0::/one\n", 1.5}, {"0::/free\n", 0}, {"0::/none\n", 0}, {"", 0}, {"nonsense\n", 0},
		{"4:memory:/\n3:cpu,cpuacct:/old\n0::/\n", 0.5}, {"3:cpu,cpuacct:/\n", 0}, {"3:cpu,cpuacct:/old\n0::/one/two\n", 0.5},
	} {
		write("groups", c.groups)
		if got := quotaOf(filepath.Join(root, "groups"), root); got != c.want {
			t.Errorf("%q: a quota of %v cores, want %v", c.groups, got, c.want)
		}
	}
}
