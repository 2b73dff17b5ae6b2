package state

import (
	"strconv"
	"testing"

	"muster/accounting"
)

// BenchmarkHeld counts jobs of 1,000 users in 50 accounts, with a root published
// after each 64, as a busy controller does.
func BenchmarkHeld(b *testing.B) {
	const users, accounts, entry = 1000, 50, 64
	m := New()
	use := accounting.Use{Submitted: 1, Jobs: 1, CPUs: 4}
	claims := make([]claim, users)
	for i := range claims {
		claims[i] = claim{account: "acct" + strconv.Itoa(i%accounts), user: "user" + strconv.Itoa(i), partition: "main", qos: "normal"}
		m.countUse(claims[i], &use, true)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		m.countUse(claims[n*7%users], &use, n%2 == 0)
		if n++; n%entry == 0 {
			m.publish()
		}
	}
}
