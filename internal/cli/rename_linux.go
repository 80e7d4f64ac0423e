package cli

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames to a name that nothing has; that something has it is fs.ErrExist.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return renameChecked(from, to) // a file system that cannot
	}
	return err
}
