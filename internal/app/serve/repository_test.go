package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/predict"
)

// repositoryOf is the configuration of a folder with versions of the net small, NAME/VERSION, whose files of weights are not read.
func repositoryOf(t *testing.T, versions ...string) (cfg Config, log *errorLog) {
	t.Helper()
	cfg, log = config(t), &errorLog{}
	cfg.Folder, cfg.Errorf = t.TempDir(), log.errorf
	for _, version := range versions {
		addVersion(t, cfg.Folder, version)
	}
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		o.Weights = ""
		return loader(1)(o)
	}
	return cfg, log
}

func addVersion(t *testing.T, folder, version string) {
	t.Helper()
	write(t, filepath.Join(folder, version, deployFile), small)
	write(t, filepath.Join(folder, version, "w.caffemodel"), "")
}

// TestLoadAgain: the folder is read again: new and changed versions are loaded, those that are gone are unloaded, and the others stay as they are.
func TestLoadAgain(t *testing.T) {
	cfg, _ := repositoryOf(t, "same/1", "changed/1", "gone/1", "fewer/1", "fewer/2")
	s, url := run(t, cfg)
	of := func(name string) *version { return s.repository.entry(name).serving["1"] }
	same, changed := of("same"), of("changed")
	write(t, filepath.Join(cfg.Folder, "changed/1", deployFile), small+"\n")
	addVersion(t, cfg.Folder, "new/1")
	for _, path := range []string{"gone", "fewer/2"} {
		if err := os.RemoveAll(filepath.Join(cfg.Folder, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Load(); err != nil {
		t.Error(err)
	}
	planned(s)
	if of("same") != same || of("changed") == changed {
		t.Error("an unchanged version was loaded, or a changed one was not")
	}
	want := `[{"name":"changed","version":"1","state":"READY","reason":""},{"name":"fewer","version":"1","state":"READY","reason":""},` +
		`{"name":"new","version":"1","state":"READY","reason":""},{"name":"same","version":"1","state":"READY","reason":""}]`
	if _, _, body := call(t, "POST", url+"/v2/repository/index", nil); strings.TrimSpace(string(body)) != want {
		t.Errorf("index: %s", body)
	}
}

// TestCoresOfLateModels: models that come into an empty folder share the cores.
func TestCoresOfLateModels(t *testing.T) {
	cfg, _ := repositoryOf(t)
	cfg.Cores, cfg.AllCores = 0, 8
	s, _ := run(t, cfg)
	addVersion(t, cfg.Folder, "a/1")
	addVersion(t, cfg.Folder, "b/1")
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	planned(s)
	if got := s.repository.cfg.Cores; got != 4 || !s.isVersionReady("a", "1") || !s.isVersionReady("b", "1") {
		t.Errorf("each has %d cores of 8", got)
	}
}

// TestOddVersions: folders whose names are wrong numbers, and those with several files of weights, are named in the index with their reasons; the others are served.
func TestOddVersions(t *testing.T) {
	cfg, log := repositoryOf(t, "m/1", "m/01", "m/0", "m/99999999999999999999", "m/2")
	write(t, filepath.Join(cfg.Folder, "m/2", "v.h5"), "")
	write(t, filepath.Join(cfg.Folder, "m/latest", "v.h5"), "")
	s, url := run(t, cfg)
	if !s.isVersionReady("m", "1") {
		t.Error("the right one is not ready")
	}
	_, _, body := call(t, "POST", url+"/v2/repository/index", nil)
	call(t, "POST", url+"/v2/repository/models/m/load", nil)
	for version, why := range map[string]string{
		"01": "/m/01: a version is a number from 1 to", "0": "/m/0: a version", "99999999999999999999": "a version is a number from 1 to 2^63-1",
		"2": "/m/2: it has one net (.prototxt) and 2 files of weights: v.h5, w.caffemodel (.caffemodel, .h5); one of each is needed",
	} {
		if !strings.Contains(string(body), fmt.Sprintf(`"version":%q,"state":"UNAVAILABLE","reason":"model \"m\", version %[1]s: `, version)) || !strings.Contains(string(body), why) || !strings.Contains(log.String(), why) {
			t.Errorf("version %s has not %q: index %s, log %s", version, why, body, log)
		}
	}
	if strings.Contains(string(body), "latest") {
		t.Errorf("a folder whose name is no number is a version: %s", body)
	}
}

// TestNames: names that paths of requests cannot have are refused.
func TestNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "/", "a\nb", "a\x00", "m\xff"} {
		if CheckName(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"m", "ssd-300", "a.b", "Katzen und Hunde", "\u732b", "50%?"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
}
