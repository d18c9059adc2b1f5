package servers

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"go.uber.org/zap"
)

// cacheAge bounds how long a cached list stands for a program whose version the
// catalog does not fix: it may have been replaced meanwhile.
const cacheAge = 24 * time.Hour

// known is the list of the caller's instance if that does not run: what a fresh
// one says. It is nil if the instance runs, which is asked itself, or if no fresh
// one has been seen yet, in this run or in an earlier one.
func (u *upstream) known(c Caller) *toolList {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := u.instances[u.entry.instanceKey(c)]; i != nil && i.live() {
		return nil
	}
	if u.first == nil && !u.recalled {
		u.recalled = true
		u.first = u.recall()
	}
	return u.first
}

// noted keeps what an instance listed when it had just started, for callers
// without an instance and for later runs.
func (u *upstream) noted(l *toolList, raw []json.RawMessage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.first, u.recalled = l, true
	u.cache(raw)
}

// changed takes notice of another list than the one that a start brought. What
// an instance for all lists now is as good as that; a user's own may tell what
// the user told the server, so only that the version does not say it all counts.
func (u *upstream) changed(l *toolList, raw []json.RawMessage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.entry.Instance == instanceShared {
		u.first = l
		u.cache(raw)
		return
	}
	u.forget()
}

// distrust drops what is cached, as the server says that it holds no more,
// unless the server has been asked again meanwhile.
func (u *upstream) distrust(stale func() bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if stale() {
		u.forget()
	}
}

// caches reports whether the entry's lists are kept: a remote server is asked
// quickly, and nothing says when it changes.
func (u *upstream) caches() bool {
	return u.manager.cache != nil && u.entry.Transport == transportStdio
}

func (u *upstream) cacheKey() string { return hex.EncodeToString(u.entry.fingerprint[:]) }

// The cache only saves time: when it fails, servers are started.
func (u *upstream) cache(raw []json.RawMessage) {
	if !u.caches() {
		return
	}
	if err := u.manager.cache.Put(u.entry.Name, u.cacheKey(), raw, time.Now()); err != nil {
		u.manager.log.Warn("tools not cached", zap.Error(err))
	}
}

func (u *upstream) forget() {
	if !u.caches() {
		return
	}
	if err := u.manager.cache.Remove(u.entry.Name); err != nil {
		u.manager.log.Warn("cached tools not removed", zap.Error(err))
	}
}

func (u *upstream) recall() *toolList {
	if !u.caches() {
		return nil
	}
	raw, saved, ok := u.manager.cache.Get(u.entry.Name, u.cacheKey())
	age := time.Since(saved)
	if !ok || age < 0 || age > cacheAge && !u.entry.fixedVersion() {
		return nil
	}
	return u.toolListOf(raw)
}

// fixedVersion reports whether the catalog says exactly what runs.
func (e *Entry) fixedVersion() bool { return e.launch.command == "" && e.launch.packageVer != "" }

// toolListOf leaves out the tools that cannot be used.
func (u *upstream) toolListOf(raw []json.RawMessage) *toolList {
	tools := make([]Tool, 0, len(raw))
	for _, one := range raw {
		t, err := toolOf(u.entry.Name, one)
		if err != nil {
			u.manager.log.Warn(err.Error())
			continue
		}
		tools = append(tools, t)
	}
	return newToolList(tools)
}
