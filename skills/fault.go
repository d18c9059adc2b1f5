package skills

import "fmt"

// Fault is what is wrong with a skill. Its text is ours alone and holds nothing
// of the skill's.
type Fault struct {
	// File is the file within the skill, of a name that was checked; may be empty.
	File string
	// Line counts from 1; 0 if the whole file or skill is meant.
	Line int
	// Problem says what is wrong and what to do.
	Problem string
}

// Error is "SKILL.md line 3: …".
func (f *Fault) Error() string {
	switch {
	case f.File == "":
		return f.Problem
	case f.Line == 0:
		return f.File + ": " + f.Problem
	}
	return fmt.Sprintf("%s line %d: %s", f.File, f.Line, f.Problem)
}

func fault(file string, line int, problem string) *Fault { return &Fault{file, line, problem} }

// readFault makes a Fault of an error in reading, whose text package rooted keeps
// free of names.
func readFault(err error) error {
	if err == nil {
		return nil
	}
	return fault("", 0, "a file cannot be read: "+err.Error())
}
