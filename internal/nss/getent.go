package nss

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// notFound is getent's exit status for a key that is not in the database (getent(1)).
const notFound = 2

// lineMax is the longest entry that is taken, in bytes: a group may list thousands
// of members.
const lineMax = 4 << 20

// ask asks getent, or the files where there is none.
func ask(ctx context.Context, uid uint32) (User, error) {
	get := getent
	if _, err := exec.LookPath("getent"); err != nil {
		get = fromFile
	}
	u, err := lookUp(ctx, uid, get)
	if err != nil {
		return u, err
	}
	limited, cancel := context.WithTimeout(ctx, groupsTime)
	defer cancel()
	if u.Groups, err = groupsOf(limited, &u); err != nil {
		u.Groups = nil // who is known without groups is better than nobody
	}
	return u, nil
}

// groupsTime bounds the question for a user's groups.
const groupsTime = 2 * time.Second

// groupsOf names all groups of a user.
func groupsOf(ctx context.Context, u *User) ([]string, error) {
	if _, err := exec.LookPath("getent"); err != nil {
		text, err := os.ReadFile("/etc/group")
		return membership(string(text), u), err
	}
	line, err := getent(ctx, "initgroups", u.Name)
	if err != nil {
		return nil, err
	}
	keys := append(strings.Fields(line)[min(1, len(strings.Fields(line))):], strconv.FormatUint(uint64(u.GID), 10))
	text, err := entries(ctx, "group", keys...)
	if err != nil && !errors.Is(err, ErrUnknown) { // a group without a name is none that a partition can name
		return nil, err
	}
	var names []string
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, ":"); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// membership finds the groups of a user in the text of group(5).
func membership(text string, u *User) []string {
	gid := strconv.FormatUint(uint64(u.GID), 10)
	var names []string
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) == 4 && (f[2] == gid || slices.Contains(strings.Split(f[3], ","), u.Name)) {
			names = append(names, f[0])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lookUp puts a user together from the passwd and group databases.
func lookUp(ctx context.Context, uid uint32, get func(ctx context.Context, database, key string) (string, error)) (User, error) {
	line, err := get(ctx, "passwd", strconv.FormatUint(uint64(uid), 10))
	if err != nil {
		return User{}, fmt.Errorf("uid %d: %w", uid, err)
	}
	u, err := parseUser(line)
	if err != nil {
		return User{}, err
	}
	if u.UID != uid {
		return User{}, fmt.Errorf("uid %d: %w (the name service answered with uid %d)", uid, ErrUnknown, u.UID)
	}
	u.Group = strconv.FormatUint(uint64(u.GID), 10)
	line, err = get(ctx, "group", u.Group)
	switch name, _, _ := strings.Cut(line, ":"); {
	case err == nil && name != "":
		u.Group = name
	case err != nil && !errors.Is(err, ErrUnknown):
		return User{}, fmt.Errorf("group %s of uid %d: %w", u.Group, uid, err)
	}
	return u, nil
}

// parseUser reads a line of passwd(5).
func parseUser(line string) (User, error) {
	f := strings.Split(line, ":")
	if len(f) != 7 || f[0] == "" {
		return User{}, fmt.Errorf("the name service answered %q, want a passwd line of 7 fields", line)
	}
	uid, err := strconv.ParseUint(f[2], 10, 32)
	gid, err2 := strconv.ParseUint(f[3], 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return User{}, fmt.Errorf("passwd line of %s: %w", f[0], err)
	}
	return User{Name: f[0], UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}, nil
}

// getent asks the name service of the host for the entry of a number.
func getent(ctx context.Context, database, key string) (string, error) {
	text, err := entries(ctx, database, key)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(text, "\n")
	return line, nil
}

// entries asks for several keys at once. With ErrUnknown come those that are known.
func entries(ctx context.Context, database string, keys ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "getent", append([]string{database}, keys...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.WaitDelay = time.Second // a child of a name service module may hold the pipe
	var out bounded
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == notFound:
		return out.String(), ErrUnknown
	case ctx.Err() != nil:
		return "", fmt.Errorf("getent %s %s: %w", database, keys[0], ErrSlow)
	case err != nil:
		return "", fmt.Errorf("getent %s %s: %w", database, keys[0], err)
	}
	return out.String(), nil
}

// bounded keeps the first lineMax bytes.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > lineMax {
		return 0, fmt.Errorf("more than %d bytes", lineMax)
	}
	return b.Buffer.Write(p)
}

// fromFile finds the line of /etc/passwd or /etc/group whose third field is key.
func fromFile(_ context.Context, database, key string) (string, error) {
	text, err := os.ReadFile("/etc/" + database)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if f := strings.SplitN(line, ":", 4); len(f) == 4 && f[2] == key {
			return line, nil
		}
	}
	return "", ErrUnknown
}
