package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
)

// ImageFiles replaces each folder in a flag's list by the image files below it, in the order of their names, and no output of the command may replace one
// of them. Links to folders are followed. Other files and hidden ones are left out. A file of several that is missing stays in the list, and so does a folder
// without images: who reads the images names it, as one that is damaged.
func (e *Env) ImageFiles(flag string, list []string) ([]string, error) {
	files, err := imageFiles(list)
	if err != nil {
		return nil, err
	}
	return files, e.Reading(flag, files)
}

func imageFiles(list []string) (files []string, err error) {
	for _, path := range list {
		info, err := os.Stat(path)
		if err != nil && len(list) == 1 {
			return nil, err
		}
		if err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		before := len(files)
		err = regular.Walk(path, func(file string, d fs.DirEntry, err error) error {
			switch hidden := strings.HasPrefix(d.Name(), ".") && file != path; {
			case err != nil:
				return err
			case hidden && d.IsDir():
				return fs.SkipDir
			case !hidden && !d.IsDir() && slices.Contains(imageio.Extensions(), strings.ToLower(filepath.Ext(file))):
				files = append(files, file)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(files) > before {
			continue
		}
		if len(list) == 1 {
			return nil, NoImages(path, nil)
		}
		files = append(files, path)
	}
	return files, nil
}

// NoImages returns the error of reading a path of ImageFiles's: for a folder, that it has no image files; else err.
func NoImages(path string, err error) error {
	if info, statErr := os.Stat(path); statErr != nil || !info.IsDir() {
		return err
	}
	return fmt.Errorf("%s: the folder has no image files (%s)", path, strings.Join(imageio.Extensions(), ", "))
}
