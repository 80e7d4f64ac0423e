package version

import (
	"os/exec"
	"reflect"
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	yes, no := true, false
	const revision = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(changed string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "-tags", Value: "mpi,netgo"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: "2026-11-28T09:56:17Z"}, {Key: "vcs.modified", Value: changed}}
	}
	linked := Build{Version: "v9.9.9", Commit: "999999999999", Date: "1999-09-09T09:09:09Z"}
	for _, c := range []struct {
		name     string
		version  string
		settings []debug.BuildSetting
		linked   Build
		want     Build
	}{
		{"a tag's checkout", "v1.2.3", vcs("false"), Build{}, Build{"v1.2.3", revision, "2026-11-28T09:56:17Z", &no, []string{"mpi", "netgo"}}},
		{"a changed checkout", "v1.2.3+dirty", vcs("true"), linked, Build{"v1.2.3+dirty", revision, "2026-11-28T09:56:17Z", &yes, []string{"mpi", "netgo"}}},
		{"go install of a tag", "v1.2.3", nil, Build{}, Build{Version: "v1.2.3"}},
		{"go install of a commit", "v1.2.4-0.20261128095617-862807e0648d", nil, linked, Build{Version: "v1.2.4-0.20261128095617-862807e0648d", Commit: "862807e0648d", Date: "2026-11-28T09:56:17Z"}},
		{"a source archive", "(devel)", nil, Build{}, Build{Version: "(devel)"}},
		{"a source archive with the linker's values", "(devel)", nil, linked, linked},
		{"nothing recorded", "", nil, linked, linked},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}
		if got := read(info, c.linked); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestLinker builds a program as outside a checkout, with the variables that the package comment names.
func TestLinker(t *testing.T) {
	const p = "github.com/swcaffe/swcaffe/internal/base/version"
	out, err := exec.Command("go", "run", "-buildvcs=false", "-ldflags", "-X "+p+".number=v1.2.3 -X "+p+".commit=0123456789ab -X "+p+".date=2026-11-28T10:00:00Z", "./testdata/print").CombinedOutput()
	if want := "v1.2.3 0123456789ab 2026-11-28T10:00:00Z\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
