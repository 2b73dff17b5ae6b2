package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"muster/internal/durable"
)

// owner is whose a data directory is. It is written once, before anything else
// is put there.
type owner struct {
	Cluster string `json:"cluster"`
	Name    string `json:"name"`
}

const ownerFile = "owner.json"

// claim makes dir the data directory of a controller, or checks that it is.
// Another cluster's or another controller's directory is refused: two replicas
// must never take turns with one log.
func claim(dir string, who owner) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	path := filepath.Join(dir, ownerFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = json.Marshal(who)
		if err != nil {
			return fmt.Errorf("data directory %s: %w", dir, err)
		}
		return writeSynced(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	var found owner
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("data directory %s: %s is damaged: %w", dir, ownerFile, err)
	}
	if found != who {
		return fmt.Errorf("data directory %s belongs to controller %q of cluster %q, not to %q of %q: give --data another directory",
			dir, found.Name, found.Cluster, who.Name, who.Cluster)
	}
	return nil
}

// Owner tells whose a data directory is: the cluster and the controller's name.
func Owner(dir string) (cluster, name string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, ownerFile))
	var found owner
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is no controller's data directory: %w", dir, err)
	}
	return found.Cluster, found.Name, nil
}

// writeSynced writes a small file so that it is there, whole, after a power cut.
func writeSynced(path string, data []byte) error {
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.SyncDir(filepath.Dir(path))
}
