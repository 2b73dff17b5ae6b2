package conf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Declaration is what a node says it has in place of what its host has: in
// throw-away clusters many nodes share one host. `muster dev` writes it as JSON and
// `musterd noded --declare` reads it.
type Declaration struct {
	Sockets        uint32         `json:"sockets"`
	CoresPerSocket uint32         `json:"cores_per_socket"`
	Threads        uint32         `json:"threads"`   // of a core
	MemoryMB       uint64         `json:"memory_mb"` // 0: the host's
	TmpDiskMB      uint64         `json:"tmp_disk"`  // MB; 0: the host's
	Gres           []DeclaredGres `json:"gres,omitempty"`
	Topology       string         `json:"topology,omitempty"` // file that describes the GPUs' links, see gres/topo
	Real           bool           `json:"real,omitempty"`     // bind jobs to the host's own CPUs
	HostName       string         `json:"hostname,omitempty"` // for jobs, in a name space of their own; needs root
}

// DeclaredGres is one kind of device of a declaration, numbered after those of the
// same name before it.
type DeclaredGres struct {
	Name  string   `json:"name"`
	Type  string   `json:"type,omitempty"`
	Count uint32   `json:"count,omitempty"` // 0: as many as there are files
	Files []string `json:"files,omitempty"` // one for each device, or none
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
