package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// classFiles are the files of each class, by its name.
type classFiles map[string][]string

// names lists the classes: numbers by value, if all are, else words in alphabetical order.
func (c classFiles) names() []string {
	names := slices.Sorted(maps.Keys(c))
	numbers := map[string]int{}
	for _, n := range names {
		if v, err := strconv.Atoi(n); err == nil {
			numbers[n] = v
		}
	}
	if len(numbers) == len(names) {
		slices.SortStableFunc(names, func(a, b string) int { return numbers[a] - numbers[b] })
	}
	return names
}

// listImages lists the files of a folder of classes or of a CSV file.
func listImages(e *cli.Env, path string) (classFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return listFolder(e, path)
	}
	return listCSV(path)
}

// partNames are names of folders that hold a part of a set, not a class.
var partNames = []string{"train", "training", "val", "valid", "validation", "test", "testing"}

// listFolder lists the files below each folder in a folder. Hidden files and folders are left out.
func listFolder(e *cli.Env, root string) (classFiles, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	files, beside, parts := classFiles{}, 0, 0
	for _, entry := range entries {
		name, path := entry.Name(), filepath.Join(root, entry.Name())
		if strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			beside++
			continue
		}
		if slices.Contains(partNames, strings.ToLower(name)) {
			parts++
		}
		if files[name], err = listClass(path); err != nil {
			return nil, err
		}
	}
	if parts > 1 && parts == len(files) {
		return nil, fmt.Errorf("%s: the folders %s look like parts of a set, not like classes; name the one to split into training and test images",
			root, strings.Join(files.names(), ", "))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no folders; it needs one for each class, with its images", root)
	}
	if beside > 0 {
		e.Log.Warnf("Left out: %d files of %s beside the folders of its classes", beside, root)
	}
	return files, nil
}

// listClass lists the files below a class's folder, in alphabetical order.
func listClass(folder string) (files []string, err error) {
	err = regular.Walk(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && path != folder:
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// listCSV lists the files of a CSV file. Its first line may be a header.
func listCSV(path string) (classFiles, error) {
	text, err := regular.ReadText(path, mostList)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	files, seen := classFiles{}, map[string]int{}
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if len(row) != 2 {
			return nil, fmt.Errorf("%s:%d: %d fields; a line is the path of an image, a comma and the name of its class", path, line, len(row))
		}
		name, class := strings.TrimSpace(row[0]), strings.TrimSpace(row[1])
		if first && slices.Contains([]string{"file", "filename", "image", "path"}, strings.ToLower(name)) {
			continue
		}
		if name == "" || class == "" || strings.ContainsAny(class, "\r\n") {
			return nil, fmt.Errorf("%s:%d: %q, %q: a path or a class is missing, or has more than one line", path, line, name, class)
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		}
		if before, twice := seen[name]; twice {
			return nil, fmt.Errorf("%s:%d: %s is on line %d already", path, line, name, before)
		}
		seen[name] = line
		files[class] = append(files[class], name)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no lines with an image and a class", path)
	}
	return files, nil
}
