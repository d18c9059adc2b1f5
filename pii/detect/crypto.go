package detect

import "crypto/sha256"

// cryptoAddress finds addresses of cryptocurrencies. Those of Bitcoin carry a
// checksum, Base58Check or Bech32 (BIP 173 and 350); Ethereum's have a form
// that little else has: 0x and 40 hexadecimal digits.
func (s *scanner) cryptoAddress(start, end int, classes byte) int {
	if !s.on.has(crypto) {
		return 0
	}
	w := s.b[start:end]
	n := len(w)
	switch {
	case n >= 26 && n <= 35 && (w[0] == '1' || w[0] == '3') && base58Check(w):
	case n >= 14 && n <= 74 && w[0]|0x20 == 'b' && w[1]|0x20 == 'c' && w[2] == '1' && bech32(w):
	case n == 42 && w[0] == '0' && w[1]|0x20 == 'x' && hexEnd(w, 2) == n:
		if ctx := s.contextOf(start); ctx.veto || ctx.has(lTrace) && !ctx.has(lWallet) {
			return 0
		}
	default:
		return 0
	}
	return s.add(start, end, crypto)
}

// addressBytes is the length of a Base58Check address: version, hash, checksum.
const addressBytes = 25

const base58Alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Values maps characters to their digits plus one; 0 is no digit.
var base58Values = func() (t [256]byte) {
	for i := range len(base58Alphabet) {
		t[base58Alphabet[i]] = byte(i + 1)
	}
	return t
}()

// base58Check reports whether w decodes to a payload and the first four bytes of
// its double SHA-256.
func base58Check(w []byte) bool {
	var out [addressBytes]byte
	for _, c := range w {
		carry := int(base58Values[c]) - 1
		if carry < 0 {
			return false
		}
		for i := addressBytes - 1; i >= 0; i-- {
			carry += int(out[i]) * 58
			out[i], carry = byte(carry), carry>>8
		}
		if carry != 0 {
			return false
		}
	}
	sum := sha256.Sum256(out[:21])
	sum = sha256.Sum256(sum[:])
	return [4]byte(sum[:4]) == [4]byte(out[21:])
}

const bech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

var bech32Values = func() (t [256]byte) {
	for i := range len(bech32Alphabet) {
		t[bech32Alphabet[i]] = byte(i + 1)
		if isLetter(bech32Alphabet[i]) {
			t[bech32Alphabet[i]-0x20] = byte(i + 1)
		}
	}
	return t
}()

// bech32 reports a right checksum, of either version, for the prefix "bc".
func bech32(w []byte) bool {
	chk := uint32(1)
	for _, v := range []byte{3, 3, 0, 2, 3} { // "bc", expanded
		chk = polymod(chk, v)
	}
	for _, c := range w[3:] {
		v := bech32Values[c]
		if v == 0 {
			return false
		}
		chk = polymod(chk, v-1)
	}
	return chk == 1 || chk == 0x2bc830a3
}

func polymod(chk uint32, v byte) uint32 {
	top := chk >> 25
	chk = chk&0x1ffffff<<5 ^ uint32(v)
	for i, g := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
		if top>>i&1 != 0 {
			chk ^= g
		}
	}
	return chk
}
