package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Walk calls visit for a path and, if it is a folder, for everything below it, in the order and by the rules of filepath.WalkDir. Symbolic links
// are followed; one that leads nowhere is visited as a link, and a folder is not entered again below itself.
func Walk(root string, visit fs.WalkDirFunc) error {
	info, err := os.Stat(root)
	if err != nil {
		err = visit(root, nil, err)
	} else {
		err = walk(root, fs.FileInfoToDirEntry(info), nil, visit)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// walk is Walk for a path below the folders above.
func walk(path string, d fs.DirEntry, above []fs.FileInfo, visit fs.WalkDirFunc) error {
	if err := visit(path, d, nil); err != nil || !d.IsDir() {
		return skipped(err, d)
	}
	folder, err := os.Stat(path)
	if err == nil && slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, folder) }) {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		if err := visit(path, d, err); err != nil {
			return skipped(err, d)
		}
	}
	above = append(slices.Clip(above), folder)
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(name); err == nil {
				e = fs.FileInfoToDirEntry(info)
			}
		}
		if err := walk(name, e, above, visit); errors.Is(err, fs.SkipDir) {
			break
		} else if err != nil {
			return err
		}
	}
	return nil
}

// skipped is nil for a folder that visit skips.
func skipped(err error, d fs.DirEntry) error {
	if d.IsDir() && errors.Is(err, fs.SkipDir) {
		return nil
	}
	return err
}
