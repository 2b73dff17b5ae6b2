package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
)

// signDomain keeps a signature of ours from being taken for one that TLS made.
const signDomain = "muster signed message\x00"

// Sign signs a message with the daemon's key and returns the signature and the
// certificate that goes with it.
func (i *Identity) Sign(message []byte) (signature, certificate []byte, err error) {
	key, ok := i.pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, nil, errors.New("the key of this daemon does not sign")
	}
	sum := sha256.Sum256(append([]byte(signDomain), message...))
	signature, err = key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, nil, fmt.Errorf("sign a message: %w", err)
	}
	return signature, i.pair.Leaf.Raw, nil
}

// Verify checks that a message was signed by a daemon of this cluster with one
// of the roles.
func (i *Identity) Verify(message, signature, certificate []byte, roles ...Role) error {
	leaf, err := x509.ParseCertificate(certificate)
	if err != nil {
		return fmt.Errorf("%w: the certificate of a signature: %v", ErrRefused, err)
	}
	if err := i.check(leaf, x509.ExtKeyUsageClientAuth, roles); err != nil {
		return err
	}
	key, ok := leaf.PublicKey.(*ecdsa.PublicKey)
	sum := sha256.Sum256(append([]byte(signDomain), message...))
	if !ok || !ecdsa.VerifyASN1(key, sum[:], signature) {
		return fmt.Errorf("%w: the signature does not belong to the message", ErrRefused)
	}
	return nil
}
