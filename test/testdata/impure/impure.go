// Package impure breaks every rule of the deterministic packages; the tests
// prove with it that the rules bite.
package impure

import (
	crand "crypto/rand"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"
)

type ratio float64 // want: float

// share hides its type behind a name.
type share struct {
	part ratio // want: float
}

var (
	count int
	table = map[string]int{"a": 1}
	lock  sync.Mutex
	fixed = []string{"a", "b"}
	local *inner
)

type inner struct{ n int }

func (i *inner) set() { i.n++ }

func clocks(t time.Time) {
	_ = time.Now()                // want: clock
	_ = time.Since(t)             // want: clock
	time.Sleep(1)                 // want: clock
	_ = time.After(1)             // want: clock
	_ = t.Local()                 // want: clock
	_ = t.After(t)                // a comparison
	now := time.Now               // want: clock
	_, _ = now, t.In(time.UTC)    // UTC is the same everywhere
	_, _ = time.LoadLocation("x") // want: clock
}

func numbers(a, b int) int {
	half := a / 2
	x := 1.5 // want: float
	_ = x    // want: float
	s := share{}
	return half + b + int(s.part) // want: float
}

func world() {
	_ = os.Getenv("HOME")                // want: world
	_, _ = os.Open("/etc/passwd")        // want: world
	_, _ = net.Dial("tcp", "")           // want: world
	_ = fs.ValidPath("x")                // want: world
	_ = runtime.NumCPU()                 // want: world
	slog.Info("x")                       // want: world
	_ = rand.IntN(3)                     // want: random
	_, _ = crand.Read(nil)               // want: random
	_ = maphash.MakeSeed()               // want: random
	go clocks(time.Time{})               // want: goroutine
	_ = reflect.ValueOf(table).MapKeys() // want: map
}

func ranges(m map[string]int) int {
	sum := 0
	for _, v := range m { // want: map
		sum += v
	}
	for _, v := range m { // order does not matter: a sum
		sum += v
	}
	// order does not matter: a sum
	for _, v := range m {
		sum += v
	}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for k := range m { // want: map
		keys = append(keys, k)
	}
	keys = append(keys, slices.Sorted(maps.Keys(m))...)
	keys = slices.Collect(maps.Keys(m)) // want: map
	return sum + len(keys)
}

func variables() {
	count++              // want: variable
	count = 3            // want: variable
	table["b"] = 2       // want: variable
	delete(table, "a")   // want: variable
	lock.Lock()          // want: variable
	p := &count          // want: variable
	_ = &fixed[0]        // a row of a table
	local.set()          // want: variable
	fixed[0] = "c"       // want: variable
	_, _ = p, len(fixed) // read only
	count := 2
	count++
}
