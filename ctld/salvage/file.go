package salvage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"muster/api"
	"muster/internal/wire"
)

// magic begins a backup, inside its compression.
const magic = "muster backup 1\n"

// maxPart bounds one part of a backup.
const maxPart = 256 << 20

// Writer writes a backup: parts with their lengths, compressed, and a checksum at the end.
type Writer struct {
	zip *gzip.Writer
	sum hash.Hash
}

// NewWriter begins a backup.
func NewWriter(w io.Writer) (*Writer, error) {
	b := &Writer{zip: gzip.NewWriter(w), sum: sha256.New()}
	_, err := io.WriteString(b.zip, magic)
	return b, err
}

// Add appends a part as it was received.
func (b *Writer) Add(part []byte) error {
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(part)))
	_, err := io.MultiWriter(b.zip, b.sum).Write(append(frame, part...))
	return err
}

// Close ends the backup with its checksum. What was not closed is refused by Reader.
func (b *Writer) Close() error {
	err := b.Add(wire.Encode(nil, &api.BackupPart{Kind: api.BackupEnd, Data: b.sum.Sum(nil)}))
	return errors.Join(err, b.zip.Close())
}

// Read hands all parts of a backup to f, in order. It fails if the backup is damaged or
// was not ended, which may show after f has had parts.
func Read(r io.Reader, f func(*api.BackupPart) error) error {
	zip, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return fmt.Errorf("it is no backup: %w", err)
	}
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(zip, begin); err != nil || string(begin) != magic {
		return errors.New("it is no backup of this version")
	}
	sum := sha256.New()
	for {
		part, frame, err := readPart(zip)
		if err != nil {
			return fmt.Errorf("the backup is damaged or was not ended: %w", err)
		}
		if part.Kind == api.BackupEnd {
			if !bytes.Equal(part.Data, sum.Sum(nil)) {
				return errors.New("the backup is damaged: its checksum is another one")
			}
			return nil
		}
		sum.Write(frame)
		if err := f(part); err != nil {
			return err
		}
	}
}

func readPart(r io.Reader) (*api.BackupPart, []byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint32(frame)
	if n > maxPart {
		return nil, nil, fmt.Errorf("a part of %d bytes", n)
	}
	frame = append(frame, make([]byte, n)...)
	if _, err := io.ReadFull(r, frame[4:]); err != nil {
		return nil, nil, err
	}
	p := new(api.BackupPart)
	return p, frame, wire.Decode(frame[4:], p)
}
