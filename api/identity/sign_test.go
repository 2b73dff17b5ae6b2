package identity

import (
	"bytes"
	"testing"
	"time"
)

// TestSignatures: only what a controller of this cluster signed, as it signed it.
func TestSignatures(t *testing.T) {
	now := time.Now()
	ours, theirs := authority(t, "ours"), authority(t, "theirs")
	node := issue(t, ours, Compute, "n1", now)
	controller := issue(t, ours, Controller, "c1", now)
	message := []byte("step 5.0 may run on n1")
	sign := func(i *Identity) (signature, certificate []byte) {
		signature, certificate, err := i.Sign(message)
		if err != nil {
			t.Fatal(err)
		}
		return signature, certificate
	}
	signature, certificate := sign(controller)
	if err := node.Verify(message, signature, certificate, Controller); err != nil {
		t.Fatalf("a controller's signature: %v", err)
	}
	otherSignature, otherCertificate := sign(issue(t, theirs, Controller, "c1", now))
	nodeSignature, nodeCertificate := sign(node)
	bent := bytes.Clone(signature)
	bent[len(bent)-1] ^= 1
	for name, x := range map[string]struct{ message, signature, certificate []byte }{
		"another message":     {[]byte("step 5.0 may run on n2"), signature, certificate},
		"a changed signature": {message, bent, certificate},
		"no signature":        {message, nil, certificate},
		"no certificate":      {message, signature, nil},
		"of a node":           {message, nodeSignature, nodeCertificate},
		"of another cluster":  {message, otherSignature, otherCertificate},
		"another's signature": {message, nodeSignature, certificate},
	} {
		if node.Verify(x.message, x.signature, x.certificate, Controller) == nil {
			t.Errorf("%s was believed", name)
		}
	}
}
