package cli

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames a file, and fails with fs.ErrExist if the new name exists.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return renameChecked(from, to) // this file system has no such rename
	}
	return err
}
