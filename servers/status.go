package servers

// Status is how one enabled server is doing, for health checks and operators.
type Status struct {
	Server    string
	Transport string
	// Running counts the instances that are connected, Failing those that
	// failed last and have not worked since.
	Running, Failing int
	// Tools is how many tools it lists, -1 when it has not been asked yet.
	Tools int
	// Last is the newest failure of an instance that has not worked since.
	Last error
}

// Status describes every enabled server in the order of the catalog. It starts
// nothing.
func (m *Manager) Status() []Status {
	list := make([]Status, len(m.upstreams))
	for i, u := range m.upstreams {
		list[i] = u.status()
	}
	return list
}

func (u *upstream) status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := Status{Server: u.entry.Name, Transport: u.entry.Transport, Tools: -1}
	if u.first != nil {
		s.Tools = len(u.first.tools)
	}
	for _, i := range u.instances {
		i.mu.Lock()
		if i.conn != nil && i.conn.alive() {
			s.Running++
		}
		if i.failures > 0 {
			s.Failing++
			s.Last = i.last
		}
		i.mu.Unlock()
	}
	return s
}
