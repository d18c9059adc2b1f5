//go:build !unix && !windows

package state

import "errors"

func lockFolder(string) (func() error, error) {
	return nil, errors.New("this system has no lock for the store's folder; set NATS_URL to a server of your own")
}
