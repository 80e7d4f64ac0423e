package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// source is a place that holds the files of a published set.
type source interface {
	// fetch returns a folder with the files, in or below it. What it downloads into the job's own folder goes with that.
	fetch(ctx context.Context, j *datasetJob) (folder string, err error)
	String() string
}

// goModule is a module at a version. The command go fetches it as the user has set it up: GOPROXY, GOSUMDB, GOFLAGS and the rest. It stays in the cache of
// modules, so that it is there without a network later.
type goModule struct{ path, version string }

func (m goModule) String() string { return "go mod download " + m.path + "@" + m.version }

func (m goModule) fetch(ctx context.Context, j *datasetJob) (string, error) {
	j.Log.Infof("Fetching files: %v", m)
	out, err := j.run(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	var answer struct{ Dir, Error string }
	if json.Unmarshal(out, &answer) == nil && answer.Error != "" {
		return "", errors.New(oneLine(answer.Error))
	}
	if err != nil {
		return "", err
	}
	if answer.Dir == "" {
		return "", fmt.Errorf("it names no folder: %s", oneLine(string(out)))
	}
	return answer.Dir, nil
}

// debianPackage is a package that the user's apt can download. It is unpacked and not installed.
type debianPackage string

func (p debianPackage) String() string { return "apt-get download " + string(p) }

func (p debianPackage) fetch(ctx context.Context, j *datasetJob) (string, error) {
	j.Log.Infof("Fetching files: %v", p)
	if _, err := j.run(ctx, "apt-get", "-q", "download", string(p)); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(j.folder, string(p)+"_*.deb"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("it left no file %s_*.deb", string(p))
	}
	_, err = j.run(ctx, "dpkg-deb", "-x", filepath.Base(files[0]), string(p))
	// usr/share/datasets/SET is deeper than files are looked for.
	return filepath.Join(j.folder, string(p), "usr", "share"), err
}

// installed is the folder of a package that is installed.
type installed string

func (f installed) String() string { return string(f) }

func (f installed) fetch(context.Context, *datasetJob) (string, error) {
	_, err := os.Stat(string(f))
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("no such folder")
	}
	return string(f), err
}

// run runs a program in the job's own folder and returns its standard output. An interrupt reaches the program, which has a second to end.
func (j *datasetJob) run(ctx context.Context, program string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("there is no program %s on the PATH", program)
	}
	var failure bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stderr = j.folder, &failure
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	if err != nil {
		return out, fmt.Errorf("%s: %s", program, cmp.Or(oneLine(failure.String()), err.Error()))
	}
	return out, nil
}

// oneLine joins lines of a message.
func oneLine(message string) string { return strings.Join(strings.Fields(message), " ") }
