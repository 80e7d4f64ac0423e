package cpe

import (
	"strings"
	"testing"
)

// TestPart: 68 cores in 16 parts are 4 each, with a 16th of the memory and its bandwidth.
func TestPart(t *testing.T) {
	knl := load(t, "knl7250")
	p, err := knl.Part(16)
	if err != nil {
		t.Fatal(err)
	}
	if p.CoreGroups != 4 || p.Memory.GBps != knl.Memory.GBps/16 || p.Memory.Bytes != knl.Memory.Bytes/16 {
		t.Errorf("a 16th of %+v is %+v", knl.Memory, p)
	}
	if _, err := knl.Part(69); err == nil || !strings.Contains(err.Error(), `machine "knl7250" has 1 to 68 parts, not 69`) {
		t.Errorf("69 parts: %v", err)
	}
	if _, err := load(t, "sw26010").Part(2); err == nil || !strings.Contains(err.Error(), "its core groups do not share memory") {
		t.Errorf("parts of the SW26010: %v", err)
	}
}
