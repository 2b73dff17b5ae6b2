package state

// Kind implements Command.
func (*Configure) Kind() Kind { return KindConfigure }

// Kind implements Command.
func (*Submit) Kind() Kind { return KindSubmit }

// Kind implements Command.
func (*End) Kind() Kind { return KindEnd }

// Kind implements Command.
func (*Update) Kind() Kind { return KindUpdate }

// Kind implements Command.
func (*Requeue) Kind() Kind { return KindRequeue }

// Kind implements Command.
func (*Suspend) Kind() Kind { return KindSuspend }

// Kind implements Command.
func (*Start) Kind() Kind { return KindStart }

// Kind implements Command.
func (*StartHet) Kind() Kind { return KindStartHet }

// Kind implements Command.
func (*NodeRegister) Kind() Kind { return KindNodeRegister }

// Kind implements Command.
func (*NodeSilent) Kind() Kind { return KindNodeSilent }

// Kind implements Command.
func (*NodeAdmin) Kind() Kind { return KindNodeAdmin }

// Kind implements Command.
func (*Report) Kind() Kind { return KindReport }

// Kind implements Command.
func (*Tick) Kind() Kind { return KindTick }

// Kind implements Command.
func (*Purge) Kind() Kind { return KindPurge }

// Kind implements Command.
func (*OutboxDone) Kind() Kind { return KindOutboxDone }

// Kind implements Command.
func (*Promise) Kind() Kind { return KindPromise }

// Kind implements Command.
func (*Reservation) Kind() Kind { return KindReservation }

// Kind implements Command.
func (*Partition) Kind() Kind { return KindPartition }

// Kind implements Command.
func (*Reprioritize) Kind() Kind { return KindReprioritize }

// newCommand makes an empty command of a kind; nil for a kind that this program
// does not know.
func newCommand(k Kind) Command {
	switch k {
	case KindConfigure:
		return new(Configure)
	case KindSubmit:
		return new(Submit)
	case KindEnd:
		return new(End)
	case KindUpdate:
		return new(Update)
	case KindRequeue:
		return new(Requeue)
	case KindSuspend:
		return new(Suspend)
	case KindStart:
		return new(Start)
	case KindStartHet:
		return new(StartHet)
	case KindReport:
		return new(Report)
	default:
		return newClusterCommand(k)
	}
}

// newClusterCommand is newCommand for what is not about single jobs.
func newClusterCommand(k Kind) Command {
	switch k {
	case KindNodeRegister:
		return new(NodeRegister)
	case KindNodeSilent:
		return new(NodeSilent)
	case KindNodeAdmin:
		return new(NodeAdmin)
	case KindTick:
		return new(Tick)
	case KindPurge:
		return new(Purge)
	case KindOutboxDone:
		return new(OutboxDone)
	case KindPromise:
		return new(Promise)
	case KindReservation:
		return new(Reservation)
	case KindPartition:
		return new(Partition)
	case KindReprioritize:
		return new(Reprioritize)
	case KindMailDue:
		return new(MailDue)
	case KindMailDone:
		return new(MailDone)
	case KindSetCrontab:
		return new(SetCrontab)
	case KindDecay:
		return new(Decay)
	case KindNodesFollow:
		return new(NodesFollow)
	case KindAccounting:
		return new(Accounting)
	default:
		return newStepCommand(k)
	}
}
