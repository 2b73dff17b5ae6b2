package conf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Declaration is what a node says it has in place of what its host has: in
// throw-away clusters many nodes share one host. `muster dev` writes it as JSON and
// `musterd noded --declare` reads it. Zero values are taken from the host.
type Declaration struct {
	HostName       string           `json:"hostname,omitempty"` // for the node's jobs, in a name space of their own; needs root
	Boards         uint16           `json:"boards,omitempty"`
	Sockets        uint16           `json:"sockets,omitempty"`
	CoresPerSocket uint16           `json:"cores_per_socket,omitempty"`
	ThreadsPerCore uint16           `json:"threads_per_core,omitempty"`
	CPUs           uint32           `json:"cpus,omitempty"`
	MemoryMB       uint64           `json:"memory_mb,omitempty"`
	TmpDiskMB      uint64           `json:"tmp_disk_mb,omitempty"`
	Devices        []DeclaredDevice `json:"devices,omitempty"`
	Real           bool             `json:"real,omitempty"` // bind jobs to the host's own CPUs
}

// DeclaredDevice is one device with a number.
type DeclaredDevice struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Index int    `json:"index"`
	File  string `json:"file,omitempty"`
}

// LoadDeclaration reads a declaration; a key that it does not know is an error.
func LoadDeclaration(path string) (*Declaration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("declaration of the node: %w", err)
	}
	d := new(Declaration)
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(d); err != nil {
		return nil, fmt.Errorf("declaration of the node: %s: %w", path, err)
	}
	return d, nil
}
