package detect

import "encoding/binary"

// Eight bytes at a time in one register: where a run of bytes ends can hardly be
// predicted, so that a loop over single bytes costs more in wrong guesses than in
// work.

const (
	ones = 0x0101010101010101
	low7 = 0x7f * ones
	high = 0x80 * ones
)

func load8(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// within sets the high bit of every byte of x whose low seven bits are between lo
// and hi; the other bits mean nothing.
func within(x uint64, lo, hi byte) uint64 {
	y := x & low7
	return (y + uint64(0x80-lo)*ones) &^ (y + uint64(0x80-hi-1)*ones)
}

// notDigits sets the high bit, and no other, of every byte that is no decimal digit.
func notDigits(x uint64) uint64 {
	y := x ^ '0'*ones
	return (y&low7 + (0x80-10)*ones | y) & high
}

// hexDigits sets the high bit, and no other, of every byte that is a hexadecimal digit.
func hexDigits(x uint64) uint64 {
	return (within(x, '0', '9') | within(x|0x20*ones, 'a', 'f')) &^ x & high
}
