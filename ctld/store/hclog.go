package store

import (
	"context"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// raftLog carries raft's log lines to slog. Raft's Info lines are our Debug
// lines: elections are told by the controller itself.
type raftLog struct {
	log  *slog.Logger
	args []any
	name string
}

var _ hclog.Logger = raftLog{}

func (l raftLog) emit(level slog.Level, msg string, args []any) {
	l.log.Log(context.Background(), level, "raft: "+msg, args...)
}

func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Error:
		return slog.LevelError
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Info:
		return slog.LevelDebug
	default:
		return slog.LevelDebug - 4
	}
}

// Log implements hclog.Logger, like all that follow.
func (l raftLog) Log(level hclog.Level, msg string, args ...any) { l.emit(slogLevel(level), msg, args) }

// Trace logs at the finest level.
func (l raftLog) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }

// Debug logs below our own debug level.
func (l raftLog) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }

// Info logs at debug level.
func (l raftLog) Info(msg string, args ...any) { l.Log(hclog.Info, msg, args...) }

// Warn logs a warning.
func (l raftLog) Warn(msg string, args ...any) { l.Log(hclog.Warn, msg, args...) }

// Error logs an error.
func (l raftLog) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l raftLog) on(level hclog.Level) bool {
	return l.log.Enabled(context.Background(), slogLevel(level))
}

// IsTrace tells whether such a line is shown, as the next four do.
func (l raftLog) IsTrace() bool { return l.on(hclog.Trace) }

// IsDebug is IsTrace for Debug.
func (l raftLog) IsDebug() bool { return l.on(hclog.Debug) }

// IsInfo is IsTrace for Info.
func (l raftLog) IsInfo() bool { return l.on(hclog.Info) }

// IsWarn is IsTrace for Warn.
func (l raftLog) IsWarn() bool { return l.on(hclog.Warn) }

// IsError is IsTrace for Error.
func (l raftLog) IsError() bool { return l.on(hclog.Error) }

// ImpliedArgs are what With added.
func (l raftLog) ImpliedArgs() []any { return l.args }

// With adds attributes to all lines.
func (l raftLog) With(args ...any) hclog.Logger {
	return raftLog{log: l.log.With(args...), args: append(l.args[:len(l.args):len(l.args)], args...), name: l.name}
}

// Name is the part of raft that logs.
func (l raftLog) Name() string { return l.name }

// Named adds to the name.
func (l raftLog) Named(name string) hclog.Logger { return l.ResetNamed(l.name + "." + name) }

// ResetNamed sets the name.
func (l raftLog) ResetNamed(name string) hclog.Logger {
	l.name = name
	return l
}

// SetLevel does nothing: slog's handler decides.
func (l raftLog) SetLevel(hclog.Level) {}

// GetLevel says that all levels may be wanted.
func (l raftLog) GetLevel() hclog.Level { return hclog.Trace }

// StandardLogger is for packages that know only the standard library's logger.
func (l raftLog) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return slog.NewLogLogger(l.log.Handler(), slog.LevelWarn)
}

// StandardWriter is where StandardLogger writes.
func (l raftLog) StandardWriter(o *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(o).Writer()
}
