package dispatch

import (
	"errors"
	"testing"

	"muster/api/pb"
)

func change(term, index uint64, d *pb.Desired, acks ...uint64) *pb.ToNode {
	return &pb.ToNode{Term: term, Index: index, Desired: d, ReportAcks: acks}
}

func launches(jobs ...uint32) *pb.Desired {
	d := &pb.Desired{}
	for _, j := range jobs {
		d.Launch = append(d.Launch, &pb.Launch{Attempt: &pb.Attempt{Job: j}})
	}
	return d
}

func endings(jobs ...uint32) *pb.Desired {
	d := &pb.Desired{}
	for _, j := range jobs {
		d.Ending = append(d.Ending, &pb.Ending{Attempt: &pb.Attempt{Job: j}})
	}
	return d
}

func TestMailboxMergesWhatMayBeMerged(t *testing.T) {
	b := NewMailbox()
	b.Send(change(1, 10, launches(1)))
	b.Send(change(1, 11, launches(2), 7))
	b.Send(change(1, 12, endings(3)))
	b.Send(change(1, 13, launches(3))) // must not overtake the ending
	b.Send(&pb.ToNode{Term: 1, Signal: &pb.Signal{Id: 1}})
	b.Send(change(1, 14, nil, 8, 9))
	b.Send(change(2, 15, nil, 10))
	list, err := b.Take()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 5 {
		t.Fatalf("%d messages, want 5: %v", len(list), list)
	}
	if d := list[0].Desired; len(d.Launch) != 2 || len(d.Ending) != 1 || list[0].Index != 12 || len(list[0].ReportAcks) != 1 {
		t.Errorf("merged to %v", list[0])
	}
	if len(list[1].Desired.Launch) != 1 || list[2].Signal == nil || len(list[3].ReportAcks) != 2 || list[4].Term != 2 {
		t.Errorf("the order is lost: %v", list)
	}
	if list, _ := b.Take(); len(list) != 0 {
		t.Errorf("taken twice: %v", list)
	}
}

func TestFullSetsStayApart(t *testing.T) {
	b := NewMailbox()
	b.Send(change(1, 10, launches(1)))
	b.Send(change(1, 11, &pb.Desired{Full: true}))
	b.Send(change(1, 12, launches(2)))
	if list, _ := b.Take(); len(list) != 3 {
		t.Errorf("%d messages, want 3: a full set is never merged", len(list))
	}
}

func TestMailboxOfANodeThatDoesNotRead(t *testing.T) {
	b := NewMailbox()
	for range mailboxLimit + 1 {
		b.Send(&pb.ToNode{Signal: &pb.Signal{}})
	}
	if list, err := b.Take(); !errors.Is(err, errSlow) || len(list) != 0 {
		t.Errorf("%d messages, %v; want the stream to end", len(list), err)
	}
}
