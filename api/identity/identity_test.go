package identity

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func authority(t *testing.T, cluster string) *Authority {
	t.Helper()
	a, err := NewAuthority(cluster, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *Authority, role Role, name string, now time.Time) *Identity {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "certs")
	if err := a.Issue(dir, role, name, now); err != nil {
		t.Fatal(err)
	}
	id, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// shake connects a client to a server over loopback and returns what each side
// says of the other.
func shake(t *testing.T, server, client *tls.Config) (serverErr, clientErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	said := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			err = tls.Server(conn, server).Handshake()
		}
		said <- err
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err == nil {
		defer conn.Close()
		_, err = conn.Read(make([]byte, 1)) // a refusal of ours arrives after the handshake
		if err != nil && !strings.Contains(err.Error(), "tls:") {
			err = nil // the server closed, content
		}
	}
	return <-said, err
}

func TestWhoIsLetIn(t *testing.T) {
	ours, theirs, sameName := authority(t, "ours"), authority(t, "theirs"), authority(t, "ours")
	now := time.Now()
	server := issue(t, ours, Controller, "c1", now)
	anyRole := []Role{Controller, Compute, Login}
	for name, c := range map[string]struct {
		client *Identity
		roles  []Role
		why    string // "" is let in
	}{
		"a controller":                             {issue(t, ours, Controller, "c2", now), []Role{Controller}, ""},
		"a compute node where nodes may":           {issue(t, ours, Compute, "n1", now), anyRole, ""},
		"a login host where it may":                {issue(t, ours, Login, "login", now), anyRole, ""},
		"a compute node as controller":             {issue(t, ours, Compute, "n1", now), []Role{Controller}, "may not do this"},
		"a login host as controller":               {issue(t, ours, Login, "login", now), []Role{Controller}, "may not do this"},
		"another cluster":                          {issue(t, theirs, Controller, "c1", now), anyRole, "unknown authority"},
		"another cluster of the same name":         {issue(t, sameName, Controller, "c1", now), anyRole, "unknown authority"},
		"a certificate that has run out":           {issue(t, ours, Controller, "c3", now.AddDate(-11, 0, 0)), anyRole, "expired"},
		"a certificate of a day that has not come": {issue(t, ours, Controller, "c3", now.AddDate(0, 0, 2)), anyRole, "not yet valid"},
	} {
		t.Run(name, func(t *testing.T) {
			// The client trusts the server here: what is tested is the server's word.
			config := c.client.Client(nil, Controller)
			config.VerifyConnection = nil
			err, _ := shake(t, server.Server(nil, c.roles...), config)
			checkRefusal(t, err, c.why)
		})
	}
	t.Run("no certificate", func(t *testing.T) {
		err, _ := shake(t, server.Server(nil, anyRole...), &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			t.Error("let in")
		}
	})
	t.Run("an older TLS", func(t *testing.T) {
		config := issue(t, ours, Login, "login", now).Client(nil, Controller)
		config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		if err, _ := shake(t, server.Server(nil, anyRole...), config); err == nil {
			t.Error("let in")
		}
	})
}

func TestWhomAClientTrusts(t *testing.T) {
	ours, theirs := authority(t, "ours"), authority(t, "theirs")
	now := time.Now()
	client := issue(t, ours, Login, "login", now)
	for name, c := range map[string]struct {
		server *Identity
		why    string
	}{
		"a controller":                 {issue(t, ours, Controller, "c1", now), ""},
		"a compute node that serves":   {issue(t, ours, Compute, "n1", now), "incompatible key usage"},
		"another cluster's controller": {issue(t, theirs, Controller, "c1", now), "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			config := c.server.Server(nil, Login)
			config.VerifyConnection = nil
			_, err := shake(t, config, client.Client(nil, Controller))
			checkRefusal(t, err, c.why)
		})
	}
}

func checkRefusal(t *testing.T, err error, why string) {
	t.Helper()
	switch {
	case why == "" && err != nil:
		t.Errorf("refused: %v", err)
	case why != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), why)):
		t.Errorf("got %v, want a refusal that says %q", err, why)
	}
}

func TestAuthorityFiles(t *testing.T) {
	dir := t.TempDir()
	a := authority(t, "ours")
	if err := a.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := LoadAuthority(dir)
	if err != nil || again.Cluster() != "ours" {
		t.Fatalf("got %v, %v", again, err)
	}
	// What the loaded one signs, the first one's daemons accept.
	err, _ = shake(t, issue(t, a, Controller, "c1", time.Now()).Server(nil, Login),
		issue(t, again, Login, "login", time.Now()).Client(nil, Controller))
	if err != nil {
		t.Error(err)
	}
	key := filepath.Join(dir, "ca-key.pem")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the key: %v, %v", info, err)
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadAuthority(dir); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a key that others can read: got %v", err)
	}
}

func TestNamesThatCouldBeMistakenAreRefused(t *testing.T) {
	a := authority(t, "ours")
	for _, name := range []string{"", "a/b", "../c", "n 1", "controller/c1", "ä", "a%2fb", "a?b"} {
		if err := a.Issue(t.TempDir(), Compute, name, time.Now()); err == nil {
			t.Errorf("name %q was accepted", name)
		}
	}
	if err := a.Issue(t.TempDir(), "king", "n1", time.Now()); err == nil {
		t.Error("an unknown role was accepted")
	}
	if _, err := NewAuthority("a/b", time.Now()); err == nil {
		t.Error("a cluster name with a slash was accepted")
	}
}
