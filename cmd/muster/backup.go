package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"muster/api"
	"muster/ctld/salvage"
	"muster/internal/durable"
	"muster/internal/wire"
)

func backupCommand() *cli.Command {
	return &cli.Command{
		Name:  "backup",
		Usage: "write all that a running cluster knows into a file: jobs, accounts, scripts, finished jobs, configuration, certificate authority",
		UsageText: "muster backup --certs DIR FILE\n\n" +
			"As root on a controller's host. All in it is of one moment, and it holds all that was acknowledged before. Keep the\n" +
			"file as you keep the authority's key, which is in it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "certs", Usage: "the controller's directory with ca.pem and ca-key.pem"},
			&cli.BoolFlag{Name: "no-certs", Usage: "leave the certificate authority out"},
		},
		Action: backup,
	}
}

func backup(c *cli.Context) error {
	if err := arguments(c, 1, 1, "the file to write"); err != nil {
		return err
	}
	if (c.String("certs") == "") != c.Bool("no-certs") {
		return errors.New("muster backup: give either --certs with the directory of ca.pem and ca-key.pem, or --no-certs")
	}
	path := c.Args().First()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already", path)
	}
	// A name that nobody can guess, and a file that was not there: in a directory that
	// others may write to, theirs must not get the authority's key.
	out, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	tmp := out.Name()
	err = writeBackup(c, out)
	err = errors.Join(err, out.Sync(), out.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// writeBackup copies what the leader says. An answer that breaks off makes it fail: the
// file is begun anew only by the user.
func writeBackup(c *cli.Context, out *os.File) error {
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	w, err := salvage.NewWriter(out)
	if err != nil {
		return err
	}
	var head *api.BackupPart
	_, err = client.Do(&api.Call{Method: api.MethodBackup}, func(part []byte) error {
		if head == nil {
			head = new(api.BackupPart)
			if err := wire.Decode(part, head); err != nil {
				return err
			}
		}
		return w.Add(part)
	})
	if err != nil {
		return err
	}
	if head == nil {
		return errors.New("the cluster answered with nothing")
	}
	if dir := c.String("certs"); dir != "" {
		for _, name := range []string{"ca.pem", "ca-key.pem"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return fmt.Errorf("certificate authority: %w", err)
			}
			if err := w.Add(wire.Encode(nil, &api.BackupPart{Kind: api.BackupFile, Name: name, Data: data})); err != nil {
				return err
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "backup of cluster %s as of index %d\n", head.Name, head.First)
	return err
}

func restoreCommand() *cli.Command {
	return &cli.Command{
		Name:  "restore",
		Usage: "make the files of a new cluster's first controller from a backup",
		UsageText: "muster restore --dir DIR --name NAME FILE\n\n" +
			"No controller of the old cluster may run any more. Start the new one with --data DIR/data, --config\n" +
			"DIR/cluster.toml and --certs DIR/certs; then start others with --join and add them. What ran when the backup was\n" +
			"made is ended: it waits again if it may be requeued, else it is NODE_FAIL. What was submitted later is not known.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "directory to make", Required: true},
			&cli.StringFlag{Name: "name", Usage: "of the controller, one of the cluster file's", Required: true},
		},
		Action: func(c *cli.Context) error {
			if err := arguments(c, 1, 1, "the backup"); err != nil {
				return err
			}
			in, err := os.Open(c.Args().First())
			if err != nil {
				return err
			}
			defer in.Close()
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			r, err := salvage.Restore(in, filepath.Clean(c.String("dir")), c.String("name"), log)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Args().First(), err)
			}
			_, err = fmt.Fprintf(c.App.Writer, "cluster %s as of index %d: %d jobs, of which %d ran and are ended; %d records of finished jobs\n",
				r.Cluster, r.Index, r.Jobs, r.Ended, r.Records)
			return err
		},
	}
}
