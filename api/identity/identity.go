// Package identity says who is at the other end between daemons: certificates
// with a role and a name, signed by the cluster's own authority, and the TLS
// configurations that check them.
package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role is what a daemon may be for others.
type Role string

// The roles.
const (
	Controller Role = "controller" // votes, signs, and may forward any call
	Compute    Role = "compute"    // runs jobs; its word counts for itself only
	Login      Role = "login"      // forwards the calls of its users
)

// Peer is who a certificate speaks for.
type Peer struct {
	Cluster string
	Role    Role
	Name    string
}

// String is the form that stands in the certificate.
func (p Peer) String() string { return p.uri().String() }

func (p Peer) uri() *url.URL {
	return &url.URL{Scheme: "muster", Host: p.Cluster, Path: "/" + string(p.Role) + "/" + p.Name}
}

// check refuses what could not be told apart again from its written form.
func (p Peer) check() error {
	for what, s := range map[string]string{"cluster": p.Cluster, "name": p.Name} {
		if s == "" || len(s) > 255 || strings.ContainsFunc(s, notInNames) {
			return fmt.Errorf("%s %q: want 1 to 255 letters, digits, '.', '_' or '-'", what, s)
		}
	}
	if !slices.Contains([]Role{Controller, Compute, Login}, p.Role) {
		return fmt.Errorf("role %q: want %s, %s or %s", p.Role, Controller, Compute, Login)
	}
	return nil
}

func notInNames(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && r != '.' && r != '_' && r != '-'
}

// ErrRefused is wrapped by every error about the certificate of the other end.
var ErrRefused = errors.New("peer refused")

// PeerOf reads who a certificate speaks for.
func PeerOf(c *x509.Certificate) (Peer, error) {
	if len(c.URIs) != 1 || c.URIs[0].Scheme != "muster" {
		return Peer{}, fmt.Errorf("%w: its certificate (%s) names no role in a Muster cluster", ErrRefused, c.Subject)
	}
	u := c.URIs[0]
	role, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	p := Peer{Cluster: u.Host, Role: Role(role), Name: name}
	if err := p.check(); err != nil {
		return Peer{}, fmt.Errorf("%w: its certificate says %s: %v", ErrRefused, u, err)
	}
	return p, nil
}

// The files of a certificate directory.
const (
	fileCA    = "ca.pem"     // the authority's certificate
	fileCAKey = "ca-key.pem" // its key, on controllers only
	fileCert  = "cert.pem"   // the daemon's certificate
	fileKey   = "key.pem"    // its key
)

// Identity is a daemon's own certificate with the authority it trusts.
type Identity struct {
	Peer
	pair tls.Certificate
	pool *x509.CertPool
}

// Load reads ca.pem, cert.pem and key.pem of a directory.
func Load(dir string) (*Identity, error) {
	ca, err := os.ReadFile(filepath.Join(dir, fileCA))
	if err != nil {
		return nil, fmt.Errorf("authority of the cluster: %w", err)
	}
	if err := private(filepath.Join(dir, fileKey)); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, fileCert), filepath.Join(dir, fileKey))
	if err != nil {
		return nil, fmt.Errorf("certificate of this daemon in %s: %w", dir, err)
	}
	return build(ca, pair, dir)
}

func build(ca []byte, pair tls.Certificate, dir string) (*Identity, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s: no certificate in it", filepath.Join(dir, fileCA))
	}
	peer, err := PeerOf(pair.Leaf)
	if err != nil {
		return nil, fmt.Errorf("certificate of this daemon in %s: %w", dir, err)
	}
	return &Identity{Peer: peer, pair: pair, pool: pool}, nil
}

// private refuses a key that others on the host can read.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("key %s may be read by others (mode %04o): set it to 0600", path, info.Mode().Perm())
	}
	return nil
}

// Server is the configuration of a listener that lets in peers of this cluster
// with one of the roles. protocols are the ALPN names it speaks.
func (i *Identity) Server(protocols []string, roles ...Role) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{i.pair},
		ClientAuth:             tls.RequireAnyClientCert, // verified below, by our own rules
		NextProtos:             protocols,
		VerifyConnection:       i.verifier(x509.ExtKeyUsageClientAuth, roles),
		SessionTicketsDisabled: true,
	}
}

// Client is the configuration for dialling a peer of this cluster with one of the
// roles. The address that was dialled does not matter, the certificate does:
// addresses change and have several forms.
func (i *Identity) Client(protocols []string, roles ...Role) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{i.pair},
		InsecureSkipVerify: true, // host names only: the chain is verified below
		NextProtos:         protocols,
		VerifyConnection:   i.verifier(x509.ExtKeyUsageServerAuth, roles),
	}
}

// ToNode is the configuration for dialling a compute node. Its certificate is one
// for clients, so that it can never pass as a controller.
func (i *Identity) ToNode(protocols []string) *tls.Config {
	c := i.Client(protocols)
	c.VerifyConnection = i.verifier(x509.ExtKeyUsageClientAuth, []Role{Compute})
	return c
}

// verifier checks chain, use, cluster and role of the other end.
func (i *Identity) verifier(use x509.ExtKeyUsage, roles []Role) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return fmt.Errorf("%w: it has no certificate", ErrRefused)
		}
		return i.check(s.PeerCertificates[0], use, roles)
	}
}

// check checks chain, use, cluster and role of a certificate.
func (i *Identity) check(leaf *x509.Certificate, use x509.ExtKeyUsage, roles []Role) error {
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: i.pool, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
		return fmt.Errorf("%w: %v", ErrRefused, err)
	}
	peer, err := PeerOf(leaf)
	if err != nil {
		return err
	}
	if peer.Cluster != i.Cluster {
		return fmt.Errorf("%w: %s is of another cluster than %s", ErrRefused, peer, i.Cluster)
	}
	if !slices.Contains(roles, peer.Role) {
		return fmt.Errorf("%w: %s may not do this, only %v", ErrRefused, peer, roles)
	}
	return nil
}

// StatePeer is who is at the other end of a connection whose handshake is done.
func StatePeer(s tls.ConnectionState) (Peer, error) {
	if len(s.PeerCertificates) == 0 {
		return Peer{}, fmt.Errorf("%w: it has no certificate", ErrRefused)
	}
	return PeerOf(s.PeerCertificates[0])
}
