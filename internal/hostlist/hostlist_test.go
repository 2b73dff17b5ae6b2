package hostlist

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"", ""},
		{"n1", "n1"},
		{"n[1-3,7]", "n1 n2 n3 n7"},
		{"n[01-03]", "n01 n02 n03"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[098-101]", "n098 n099 n100 n101"},
		{"n[1,05]", "n1 n05"},
		{"n[3,1,1]", "n3 n1 n1"},
		{"n[1-2]-ib", "n1-ib n2-ib"},
		{"row[0,1]_rack[2-3]", "row0_rack2 row0_rack3 row1_rack2 row1_rack3"},
		{"[1-2][0-1]", "10 11 20 21"},
		{"a,b[2-3], c\n", "a b2 b3 c"},
		{"a,,b,", "a b"},
	} {
		got, err := Expand(c.expr)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("Expand(%q) = %v, %v; want %s", c.expr, got, err, c.want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"n[1-3":                                "a [ without a ]",
		"n1]":                                  "a ] without a [",
		"n[1-[2]]":                             "brackets can follow each other but not nest",
		"n[]":                                  `"" in [] is not a number`,
		"n[1-]":                                `"" in [1-] is not a number`,
		"n[a]":                                 `"a" in [a]`,
		"n[1-2-3]":                             `"2-3" in [1-2-3]`,
		"n[3-1]":                               "3-1 runs down",
		"ok,n[1- 3]":                           `"n[1- 3]"`,
		"n[0-999999999]":                       "more than 65536 names",
		"n[0-999][0-99]":                       "more than 65536 names",
		"n[0-65535],m":                         "more than 65536 names",
		"n[1234567890123456789]":               "18 digits",
		strings.Repeat("x", MaxName+1):         "more than 255 bytes",
		"a[0-9][0-9][0-9][0-9][0-9][0-9][0-9]": "more than 65536 names",
		"n[0-9,0-999999999999999999,0-999999999]": "more than 65536 names",
	} {
		got, err := Expand(expr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Expand(%.40q) = %d names, %v; want an error with %q", expr, len(got), err, want)
		}
	}
	if got, err := Expand("n[0-65535]"); err != nil || len(got) != Max {
		t.Errorf("Max names: got %d, %v", len(got), err)
	}
}

func TestCompress(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"", ""},
		{"n1", "n1"},
		{"n1 n2 n3 n4", "n[1-4]"},
		{"n1 n2", "n[1-2]"},
		{"n1 n3", "n[1,3]"},
		{"n01 n02 n03 n07", "n[01-03,07]"},
		{"a1 b2 b3", "a1,b[2-3]"},
		{"n9 n10", "n[9-10]"},
		{"n09 n10", "n[09-10]"},
		{"n9 n010", "n[9,010]"},
		{"n099 n100", "n[099-100]"},
		{"n3 n2 n1", "n[3,2,1]"},
		{"n1 a n2", "n1,a,n2"},
		{"n1 n1", "n[1,1]"},
		{"login login2", "login,login2"},
		{"n1-ib n2-ib", "n1-ib,n2-ib"},
		{"row0_n1 row0_n2 row1_n1", "row0_n[1-2],row1_n1"},
		{"1 2", "[1-2]"},
		{"n12345678901234567890", "n12345678901234567890"},
	} {
		if got := Compress(strings.Fields(c.names)); got != c.want {
			t.Errorf("Compress(%s) = %s, want %s", c.names, got, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	want := strings.Fields("a a2 a10 a10b n0 n1 n01 n2 n10 row2_n1 row2_n10 row10_n2")
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	Sort(got)
	// n01 and n1 have one value: as texts, n01 is first.
	i := slices.Index(want, "n1")
	want[i], want[i+1] = want[i+1], want[i]
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// FuzzExpand holds that whatever Expand takes, Compress writes so that Expand
// gives the same names back, and that no bound is passed.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"n[1-4]", "n[01-03,07]", "a1,b[2-3]", "row[0,1]_rack[2-3]", "n[1-3]-ib", "n[1-[2]]",
		"[0-9][0-9]", "n[9-10],n010", "x[0-999999999]", "]", "[", ",", "n[018446744073709551615-1]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		names, err := Expand(expr)
		if err != nil {
			return
		}
		if len(names) > Max {
			t.Fatalf("%d names", len(names))
		}
		again, err := Expand(Compress(names))
		if err != nil {
			t.Fatalf("%q: own expression refused: %v", Compress(names), err)
		}
		if !slices.Equal(names, again) {
			t.Fatalf("%q: %v became %v", expr, names, again)
		}
	})
}

// FuzzSort holds that the order of names does not depend on where they start.
func FuzzSort(f *testing.F) {
	f.Add("n1 n01 n10 n2 a", uint64(3))
	f.Add("1 01 a1 a01b a1b2", uint64(9))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		one := strings.Fields(text)
		two := slices.Clone(one)
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(two), func(i, j int) { two[i], two[j] = two[j], two[i] })
		Sort(one)
		Sort(two)
		if !slices.Equal(one, two) {
			t.Fatalf("two orders: %v and %v", one, two)
		}
	})
}
