// Package durable makes changes of files outlive a power cut.
package durable

import (
	"errors"
	"os"

	"muster/internal/faults"
)

// SyncDir makes the names in a directory durable: without it a file that was made,
// renamed or removed may be as before after a power cut, whatever was synced of
// the file itself.
func SyncDir(dir string) error {
	if faults.On(faults.NoDirSync) {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
