package ctld

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"muster/api"
	"muster/job"
	"muster/state"
)

// backupChunk is how much of the state goes into one part of a backup.
const backupChunk = 1 << 20

// Backup implements service.Core: all that is needed to begin the cluster anew, as it was
// at one raft index, that of a root which includes all that was acknowledged before.
func (c *Controller) Backup(ctx context.Context, send func(*api.BackupPart) error) error {
	if err := c.store.Verify(ctx); err != nil {
		return &api.Error{Kind: api.ErrUnavailable, Text: err.Error()}
	}
	root := c.store.Root()
	if n := c.ledger.missing(root); n > 0 {
		return c.ledger.behind(n)
	}
	head := &api.BackupPart{Kind: api.BackupHead, Name: c.id.Cluster, First: root.Index(), Data: []byte(root.Cluster().Source)}
	if err := send(head); err != nil {
		return err
	}
	first, _ := root.OutboxRange() // the records from here on are in the state
	err := c.ledger.file.Encoded(ctx, 1, first-1, func(first uint64, records [][]byte) error {
		p := &api.BackupPart{Kind: api.BackupLedger, First: first}
		for _, r := range records {
			p.List = append(p.List, api.BackupRecord{Data: r})
		}
		return send(p)
	})
	if err != nil {
		return err
	}
	if err := c.backupBlobs(ctx, root, send); err != nil {
		return err
	}
	w := bufio.NewWriterSize(parts{send}, backupChunk)
	if err := root.WriteSnapshot(w); err != nil {
		return err
	}
	return w.Flush()
}

// backupBlobs sends each script and environment that a job of the root names, once.
func (c *Controller) backupBlobs(ctx context.Context, root *state.Root, send func(*api.BackupPart) error) error {
	sent := map[job.Hash]bool{{}: true}
	for j := range root.Jobs() {
		for _, h := range []job.Hash{j.Request.Batch.Script, j.Request.Batch.Environment} {
			if sent[h] {
				continue
			}
			sent[h] = true
			data, err := c.store.Blob(ctx, h)
			if err != nil {
				return fmt.Errorf("script or environment of job %d: %w", j.ID, err)
			}
			if err := send(&api.BackupPart{Kind: api.BackupBlob, Data: data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts sends what is written to it as parts of the state.
type parts struct {
	send func(*api.BackupPart) error
}

var _ io.Writer = parts{}

// Write implements io.Writer.
func (p parts) Write(b []byte) (int, error) {
	return len(b), p.send(&api.BackupPart{Kind: api.BackupState, Data: b})
}
