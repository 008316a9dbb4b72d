package explore

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
)

// tokenFile holds the token of a folder of results, so that the address stays the same. If others could
// read the file, there is a new token.
const tokenFile = ".partwise-explore"

const tokenBytes = 16

// tokenOf returns the token of the results in dir, and keeps it there if it can.
func tokenOf(dir string) string {
	path := filepath.Join(dir, tokenFile)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() <= 2*tokenBytes {
		text, err := os.ReadFile(path)
		token := string(text)
		switch bits, err2 := hex.DecodeString(token); {
		case err != nil || err2 != nil:
		case len(bits) == tokenBytes && (runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0):
			return token
		default: // written by this function, and not safe or not whole
			_ = os.Remove(path)
		}
	}
	token := newToken()
	if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_, _ = f.WriteString(token) // the next address is another one otherwise
		_ = f.Close()
	}
	return token
}

func newToken() string {
	var bits [tokenBytes]byte
	_, _ = rand.Read(bits[:]) // which never fails
	return hex.EncodeToString(bits[:])
}
