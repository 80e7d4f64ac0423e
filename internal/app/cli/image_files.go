package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio"
)

// ImageFiles replaces each folder in a list by the image files below it, in the order of their names. Other files and hidden ones are left out.
// A file of several that is missing stays in the list: who reads the images names it, as one that is damaged.
func ImageFiles(list []string) (files []string, err error) {
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
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
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
		if len(files) == before {
			return nil, fmt.Errorf("%s: the folder has no image files (%s)", path, strings.Join(imageio.Extensions(), ", "))
		}
	}
	return files, nil
}
