package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/predict"
)

// Source is where a version of a model is loaded from.
type Source struct {
	Name, Version string
	Options       predict.Options
	err           error  // why it cannot be loaded
	stamp         string // sizes and times of its files: the version is loaded again if they change
}

// scanFolder lists the versions in a model repository in Triton's layout: NAME/VERSION/ with a net for deployment and its weights.
func scanFolder(folder string) (list []Source, err error) {
	models, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		path := filepath.Join(folder, m.Name())
		if strings.HasPrefix(m.Name(), ".") || !isFolder(path) {
			continue
		}
		versions, err := os.ReadDir(path)
		if err != nil {
			list = append(list, Source{Name: m.Name(), err: err})
			continue
		}
		count := len(list)
		for _, v := range versions {
			at := filepath.Join(path, v.Name())
			if strings.Trim(v.Name(), "0123456789") != "" || !isFolder(at) {
				continue
			}
			if _, err := strconv.ParseUint(v.Name(), 10, 63); err != nil || v.Name()[0] == '0' {
				list = append(list, Source{Name: m.Name(), Version: v.Name(), err: fmt.Errorf("%s: a version is a number from 1 to 2^63-1 without zeros before it", at)})
				continue
			}
			list = append(list, readVersion(path, m.Name(), v.Name()))
		}
		if len(list) == count {
			list = append(list, Source{Name: m.Name(), err: fmt.Errorf("%s: there is no folder of a version, whose name is a number from 1 on", path)})
		}
	}
	return list, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readVersion finds the files of a version: deploy.prototxt or the only .prototxt, the only file of weights, and if they are there labels.txt (also beside the
// versions) and the training's train_val.prototxt.
func readVersion(model, name, number string) Source {
	folder := filepath.Join(model, number)
	s := Source{Name: name, Version: number}
	entries, err := os.ReadDir(folder)
	if err != nil {
		s.err = err
		return s
	}
	var nets, weights []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Name() == trainingFile:
			s.Options.Training = path
		case strings.HasSuffix(e.Name(), ".prototxt"):
			nets = append(nets, path)
		case strings.HasSuffix(e.Name(), ".caffemodel"), strings.HasSuffix(e.Name(), ".h5"):
			weights = append(weights, path)
		case e.Name() == labelsFile:
			s.Options.Labels = path
		default:
			continue
		}
		s.stamp += stampOf(path)
	}
	if deploy := filepath.Join(folder, deployFile); slices.Contains(nets, deploy) {
		nets = []string{deploy}
	}
	if len(nets) != 1 || len(weights) != 1 {
		s.err = fmt.Errorf("%s: it has %s (.prototxt) and %s (.caffemodel, .h5); one of each is needed, or several nets of which one is %s", folder, listed("net", "nets", nets), listed("file of weights", "files of weights", weights), deployFile)
		return s
	}
	s.Options.Net, s.Options.Weights = nets[0], weights[0]
	if common := filepath.Join(model, labelsFile); s.Options.Labels == "" {
		if _, err := os.Stat(common); err == nil {
			s.Options.Labels = common
			s.stamp += stampOf(common)
		}
	}
	return s
}

// listed says how many files of a kind there are, and which if they are several.
func listed(one, several string, paths []string) string {
	switch len(paths) {
	case 0:
		return "no " + one
	case 1:
		return "one " + one
	}
	var list []string
	for _, p := range paths {
		list = append(list, filepath.Base(p))
	}
	return fmt.Sprintf("%d %s: %s", len(paths), several, strings.Join(list, ", "))
}

// The names of files in a version's folder.
const (
	deployFile   = "deploy.prototxt"
	trainingFile = "train_val.prototxt"
	labelsFile   = "labels.txt"
)

func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path + err.Error()
	}
	return fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
}
