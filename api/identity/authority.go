package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Validity of what an authority makes. Renewal comes with `muster join`.
const (
	authorityYears = 30
	daemonYears    = 10
	clockSkew      = time.Hour // a host may lag this far behind and still accept
)

// Authority signs the certificates of one cluster.
type Authority struct {
	cluster string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
}

// NewAuthority makes the authority of a new cluster. The name has letters,
// digits, '.', '_' and '-'.
func NewAuthority(cluster string, now time.Time) (*Authority, error) {
	if err := (Peer{Cluster: cluster, Role: Controller, Name: "x"}).check(); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of the authority: %w", err)
	}
	template, err := newTemplate(pkix.Name{Organization: []string{cluster}, CommonName: cluster + " authority"}, now, authorityYears)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cluster: cluster, cert: cert, key: key}, err
}

// LoadAuthority reads ca.pem and ca-key.pem of a directory.
func LoadAuthority(dir string) (*Authority, error) {
	if err := private(filepath.Join(dir, fileCAKey)); err != nil {
		return nil, err
	}
	der, err := readPEM(filepath.Join(dir, fileCA), "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, fileCA), err)
	}
	der, err = readPEM(filepath.Join(dir, fileCAKey), "EC PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, fileCAKey), err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) || len(cert.Subject.Organization) != 1 {
		return nil, fmt.Errorf("%s: key and certificate of the authority do not belong together", dir)
	}
	return &Authority{cluster: cert.Subject.Organization[0], cert: cert, key: key}, nil
}

// Cluster is the name of the cluster.
func (a *Authority) Cluster() string { return a.cluster }

// Save writes ca.pem and ca-key.pem into a directory of a controller.
func (a *Authority) Save(dir string) error {
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(dir, fileCA), "CERTIFICATE", a.cert.Raw, 0o644),
		writePEM(filepath.Join(dir, fileCAKey), "EC PRIVATE KEY", der, 0o600))
}

// Issue makes a key and a certificate for a daemon and writes ca.pem, cert.pem
// and key.pem into dir, which it makes if need be.
func (a *Authority) Issue(dir string, role Role, name string, now time.Time) error {
	peer := Peer{Cluster: a.cluster, Role: role, Name: name}
	if err := peer.check(); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("key of %s: %w", peer, err)
	}
	subject := pkix.Name{Organization: []string{a.cluster}, OrganizationalUnit: []string{string(role)}, CommonName: name}
	template, err := newTemplate(subject, now, daemonYears)
	if err != nil {
		return err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.URIs = []*url.URL{peer.uri()}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if role == Controller {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", peer, err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(dir, fileCA), "CERTIFICATE", a.cert.Raw, 0o644),
		writePEM(filepath.Join(dir, fileCert), "CERTIFICATE", cert, 0o644),
		writePEM(filepath.Join(dir, fileKey), "EC PRIVATE KEY", der, 0o600))
}

func newTemplate(subject pkix.Name, now time.Time, years int) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-clockSkew), NotAfter: now.AddDate(years, 0, 0),
	}, nil
}

func writePEM(path, kind string, der []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), pem.Encode(f, &pem.Block{Type: kind, Bytes: der}), f.Close())
}

func readPEM(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s: no %s in it", path, kind)
	}
	return block.Bytes, nil
}
