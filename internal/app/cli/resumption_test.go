package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResumption(t *testing.T) {
	file := filepath.Join(t.TempDir(), "flags")
	if err := os.WriteFile(file, []byte("-weights=old.caffemodel\n-seed=3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ line, want string }{
		{"train -solver s.prototxt", "bin/swcaffe train -solver s.prototxt -snapshot new.solverstate"},
		{"train --solver=s.prototxt --weights=a,b -threads 2", "bin/swcaffe train --solver=s.prototxt -threads 2 -snapshot new.solverstate"},
		{"-snapshot old.solverstate train -solver s.prototxt", "bin/swcaffe train -solver s.prototxt -snapshot new.solverstate"},
		{"train -weights a -solver snapshot -log_dir weights", "bin/swcaffe train -solver snapshot -log_dir weights -snapshot new.solverstate"},
		{"train -flagfile " + file + " -solver s", "bin/swcaffe train -seed=3 -solver s -snapshot new.solverstate"},
		{"train -stage it's -solver s", `bin/swcaffe train -stage 'it'\''s' -solver s -snapshot new.solverstate`},
		{"train -http_token hush -solver s", `bin/swcaffe train -http_token "$SWCAFFE_HTTP_TOKEN" -solver s -snapshot new.solverstate`},
		{"train --http_token=hush -solver s", `bin/swcaffe train -http_token "$SWCAFFE_HTTP_TOKEN" -solver s -snapshot new.solverstate`},
	}
	for _, tc := range tests {
		if got := testCommands.resumption("bin/swcaffe", strings.Fields(tc.line), "new.solverstate"); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.line, got, tc.want)
		}
	}
}
