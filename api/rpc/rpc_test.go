package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"muster/api/identity"
	"muster/api/pb"
)

// echo answers each call with the name of who called.
type echo struct {
	pb.UnimplementedControllerServer
}

func (echo) Call(r *pb.CallRequest, s grpc.ServerStreamingServer[pb.CallReply]) error {
	who, ok := PeerFrom(s.Context())
	if !ok {
		return status.Error(codes.Internal, "no peer")
	}
	if err := s.Send(&pb.CallReply{Chunk: []byte(who.String())}); err != nil {
		return err
	}
	return s.Send(&pb.CallReply{Chunk: r.Call})
}

func issue(t *testing.T, a *identity.Authority, role identity.Role, name string) *identity.Identity {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := a.Issue(dir, role, name, time.Now()); err != nil {
		t.Fatal(err)
	}
	id, err := identity.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func authority(t *testing.T) *identity.Authority {
	t.Helper()
	a, err := identity.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve starts the port of a controller with gRPC behind it.
func serve(t *testing.T, a *identity.Authority) *Listener {
	t.Helper()
	l, err := Listen("127.0.0.1:0", issue(t, a, identity.Controller, "c1"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer()
	pb.RegisterControllerServer(server, echo{})
	done := make(chan error, 1)
	go func() { done <- server.Serve(l.GRPC()) }()
	t.Cleanup(func() {
		server.Stop()
		l.Close()
		<-done
	})
	return l
}

// call returns all chunks of an answer.
func call(id *identity.Identity, addr string, body []byte) ([]string, error) {
	conn, err := Dial(id, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stream, err := pb.NewControllerClient(conn).Call(ctx, &pb.CallRequest{Call: body})
	var chunks []string
	for err == nil {
		var r *pb.CallReply
		if r, err = stream.Recv(); err == nil {
			chunks = append(chunks, string(r.Chunk))
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return chunks, err
}

func TestGRPCKnowsWhoCalls(t *testing.T) {
	a := authority(t)
	l := serve(t, a)
	for _, role := range []identity.Role{identity.Controller, identity.Compute, identity.Login} {
		big := strings.Repeat("x", 15<<20)
		got, err := call(issue(t, a, role, "d1"), l.Addr().String(), []byte(big))
		if err != nil {
			t.Errorf("%s: %v", role, err)
			continue
		}
		if len(got) != 2 || got[0] != "muster://test/"+string(role)+"/d1" || got[1] != big {
			t.Errorf("%s: %d chunks, the first %.60q", role, len(got), got[0])
		}
	}
	if _, err := call(issue(t, authority(t), identity.Controller, "c2"), l.Addr().String(), nil); err == nil {
		t.Error("another cluster's controller was served")
	}
}

func TestRaftIsForControllers(t *testing.T) {
	a := authority(t)
	l := serve(t, a)
	addr := l.Addr().String()
	conn, err := DialRaft(issue(t, a, identity.Controller, "c2"), addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served, err := l.Raft().Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := io.ReadFull(served, b); err != nil || string(b) != "hello" {
		t.Errorf("raft got %q, %v", b, err)
	}
	for _, role := range []identity.Role{identity.Compute, identity.Login} {
		conn, err := DialRaft(issue(t, a, role, "n1"), addr, 10*time.Second)
		if err != nil {
			continue
		}
		if n, err := conn.Read(b); err == nil {
			t.Errorf("%s: raft let it in and said %q", role, b[:n])
		}
		conn.Close()
	}
	if len(l.raft.conns) != 0 {
		t.Error("a connection that was refused waits for raft")
	}
}

func TestStrangersAreRefusedAndTheRestServed(t *testing.T) {
	a := authority(t)
	l := serve(t, a)
	addr := l.Addr().String()
	mute, err := net.Dial("tcp", addr) // says nothing, must not hold up the others
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	plain, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	bare, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err == nil {
		if _, err := bare.Read(make([]byte, 1)); err == nil {
			t.Error("a client without certificate was served")
		}
		bare.Close()
	}
	if _, err := call(issue(t, a, identity.Login, "login"), addr, nil); err != nil {
		t.Errorf("after strangers: %v", err)
	}
}

func TestOnlyAControllerListens(t *testing.T) {
	a := authority(t)
	l, err := Listen("127.0.0.1:0", issue(t, a, identity.Compute, "n1"), slog.New(slog.DiscardHandler))
	if err == nil {
		l.Close()
		t.Fatal("a compute node opened the port of a controller")
	}
	if !strings.Contains(err.Error(), "muster://test/compute/n1") {
		t.Errorf("%v does not say whose certificate it is", err)
	}
}
