package lockdown

func apply() map[string]string { return nil }
