package servers

// retire takes an idle instance out of use for good.
func (i *instance) retire() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.holders > 0 || i.starting != nil {
		return false
	}
	i.retired = true
	if conn := i.conn; conn != nil {
		i.conn = nil
		i.up.manager.work.Go(func() { conn.close() })
	}
	return true
}

// settle waits for a start that was under way when the instance was closed.
func (i *instance) settle() {
	i.mu.Lock()
	a := i.starting
	i.mu.Unlock()
	if a != nil {
		<-a.done
	}
}

func (i *instance) close() error {
	i.mu.Lock()
	i.retired = true
	conn := i.conn
	i.conn = nil
	if i.idle != nil {
		i.idle.Stop()
	}
	i.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.close()
}
