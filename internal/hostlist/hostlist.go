// Package hostlist reads and writes host-list expressions: n[1-3,7],
// rack[0-1]_node[01-16], and plain names separated by commas.
package hostlist

// Max is the most names that one expression may stand for; a larger one is an
// error, so that n[0-999999999] costs nothing.
const Max = 65536

// MaxName is the most bytes that one name may have; a host name has fewer.
const MaxName = 255

// maxDigits bounds the numbers in brackets, so that they fit 63 bits.
const maxDigits = 18

// number is a run of digits of a name: its value and how many digits it is
// written with at least (n07 has value 7, width 2).
type number struct {
	value int64
	width int
}

// parseNumber reads s, all of it digits.
func parseNumber(s string) (number, bool) {
	if len(s) == 0 || len(s) > maxDigits {
		return number{}, false
	}
	n := number{width: len(s)}
	for i := range len(s) {
		if !digit(s[i]) {
			return number{}, false
		}
		n.value = n.value*10 + int64(s[i]-'0')
	}
	return n, true
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// separator tells whether c parts names outside brackets. Slurm takes white
// space as well as commas.
func separator(c byte) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' }
