package accounting

import (
	"math/big"
	"testing"

	"muster/internal/wiretest"

	"pgregory.net/rapid"
)

func (s Spent) big() *big.Int {
	n := new(big.Int).SetUint64(s.Hi)
	return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(s.Lo))
}

// clamp is what an exact number becomes as Spent.
func clamp(n *big.Int) *big.Int {
	if n.Sign() < 0 {
		return new(big.Int)
	}
	if n.Cmp(most().big()) > 0 {
		return most().big()
	}
	return n
}

// rounded is n/d to the nearest, halves up.
func rounded(n, d *big.Int) *big.Int {
	half := new(big.Int).Rsh(d, 1)
	return new(big.Int).Div(new(big.Int).Add(n, half), d)
}

func spent(t *rapid.T, label string) Spent {
	s := Spent{rapid.Uint64().Draw(t, label+"hi"), rapid.Uint64().Draw(t, label+"lo")}
	if rapid.Bool().Draw(t, label+"small") {
		s.Hi = 0
	}
	return s
}

// All arithmetic is that of exact numbers, held within 128 bits.
func TestSpentCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := spent(t, "a"), spent(t, "b"), rapid.Uint64().Draw(t, "n")
		x, y, k := a.big(), b.big(), new(big.Int).SetUint64(n)
		f := Fraction(n >> 1)
		product := new(big.Int).Mul(x, new(big.Int).SetUint64(uint64(min(f, One))))
		milli := uint64(uint32(n))
		whole := new(big.Int).Div(x, big.NewInt(SpentUnit))
		if !whole.IsUint64() {
			whole.SetUint64(^uint64(0))
		}
		for _, c := range []struct {
			what string
			got  *big.Int
			want *big.Int
		}{
			{"plus", a.Plus(b).big(), clamp(new(big.Int).Add(x, y))},
			{"less", a.Less(b).big(), clamp(new(big.Int).Sub(x, y))},
			{"times", a.Times(n).big(), clamp(new(big.Int).Mul(x, k))},
			{"scale", a.Scale(f).big(), rounded(product, new(big.Int).SetUint64(uint64(One)))},
			{"whole", new(big.Int).SetUint64(a.Whole()), whole},
		} {
			if c.got.Cmp(c.want) != 0 {
				t.Fatalf("%s of %v, %v, %d: got %v, want %v", c.what, x, y, n, c.got, c.want)
			}
		}
		small := Spent{Hi: a.Hi >> 33, Lo: a.Lo}
		want := rounded(new(big.Int).Mul(small.big(), new(big.Int).SetUint64(milli)), big.NewInt(1000))
		if got := small.Thousandths(milli).big(); got.Cmp(want) != 0 {
			t.Fatalf("%v by %d thousandths: got %v, want %v", small.big(), milli, got, want)
		}
		if a.Compare(b) != x.Cmp(y) {
			t.Fatalf("%v and %v are ordered otherwise", x, y)
		}
	})
}

// A big cluster for ten years, by a heavy weight on each MB, is still counted.
func TestSpentHoldsTenYearsOfABigCluster(t *testing.T) {
	const nodes, memory, seconds, weight = 10_000, 2 << 20, 10 * 366 * 86400, 1_000_000
	got := Over(nodes*memory, seconds).Times(weight)
	want := new(big.Int).Mul(big.NewInt(nodes*memory), big.NewInt(seconds))
	want.Mul(want, big.NewInt(weight)).Mul(want, big.NewInt(SpentUnit))
	if got == most() || got.big().Cmp(want) != 0 {
		t.Errorf("got %v, want %v", got.big(), want)
	}
}

// Decay is the power of that of one second, over years too.
func TestDecayIsThePowerOfOneSecond(t *testing.T) {
	for _, c := range []struct {
		halfLife uint32
		seconds  uint64
	}{{7 * 86400, 1}, {7 * 86400, 300}, {7 * 86400, 7 * 86400}, {86400, 10 * 86400}, {365 * 86400, 5 * 365 * 86400}, {1, 3}, {600, 0}} {
		const precision = 200
		one := new(big.Float).SetPrec(precision).SetInt64(1)
		base := new(big.Float).SetPrec(precision).Sub(one, new(big.Float).SetPrec(precision).Quo(big.NewFloat(693).SetPrec(precision), big.NewFloat(1000*float64(c.halfLife)).SetPrec(precision)))
		want := new(big.Float).SetPrec(precision).Copy(one)
		for n := c.seconds; n > 0; n >>= 1 {
			if n&1 != 0 {
				want.Mul(want, base)
			}
			base.Mul(base, base)
		}
		got := new(big.Float).SetPrec(precision).SetUint64(uint64(DecayOver(c.halfLife, c.seconds)))
		got.Quo(got, new(big.Float).SetPrec(precision).SetUint64(uint64(One)))
		diff, _ := got.Sub(got, want).Quo(got, want).Float64()
		if diff < -1e-10 || diff > 1e-10 {
			t.Errorf("half-life %d, %d s: off by %g of it", c.halfLife, c.seconds, diff)
		}
	}
	if DecayOver(0, 1000) != One {
		t.Error("use decays without a half-life")
	}
}

func TestUsageRoundTrips(t *testing.T) { wiretest.RoundTrip(t, &Usage{}) }
