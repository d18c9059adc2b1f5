package api

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"airlock/orchestrator"
)

// formField is a field of a form; one with a file name is a file.
type formField struct{ name, file, content string }

// form writes fields as a client does, and gives the header Content-Type with them.
func form(t *testing.T, fields ...formField) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, f := range fields {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", f.name)}}
		if f.file != "" {
			header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", f.name, f.file))
			header.Set("Content-Type", "application/octet-stream")
		}
		part, err := w.CreatePart(header)
		if err == nil {
			_, err = part.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.FormDataContentType()
}

func TestAFormIsTheSameTaskAsJSON(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, task: orchestrator.Task{Vault: v}}
	send := start(t, f, all)
	body, kind := form(t,
		formField{"userId", "", "u1"}, formField{"task", "", "Sum it up"}, formField{"maxTurns", "", "3"}, formField{"timeoutMs", "", "5000"},
		formField{"files", "data/a.csv", "a,b\n"}, formField{"files", "b.bin", "\x00\xff"})
	if status, _, answer := send("POST", "/task", body, "Content-Type", kind, "Idempotency-Key", "k"); status != 200 {
		t.Fatalf("the form answered %d %s", status, answer)
	}
	formed := f.submitted
	plain := `{"files":[{"name":"data/a.csv","content":"YSxiCg=="},{"name":"b.bin","content":"AP8="}],"userId":"u1","task":"Sum it up","maxTurns":3,"timeoutMs":5000}`
	if status, _, answer := send("POST", "/task", plain, "Idempotency-Key", "k"); status != 200 {
		t.Fatalf("JSON answered %d %s", status, answer)
	}
	if got, want := fmt.Sprintf("%+v", formed), fmt.Sprintf("%+v", f.submitted); formed.Repeat != f.submitted.Repeat || len(formed.Files) != 2 ||
		formed.Files[0].Name != "data/a.csv" || !bytes.Equal(formed.Files[1].Data, f.submitted.Files[1].Data) || formed.Text.Len() != f.submitted.Text.Len() {
		t.Errorf("the form submitted %s, JSON %s", got, want)
	}
}

func TestBadForms(t *testing.T) {
	t.Parallel()
	many := make([]formField, maxFormParts+1)
	for i := range many {
		many[i] = formField{"files", fmt.Sprint(i), ""}
	}
	for name, tc := range map[string]struct {
		fields []formField
		change func(string) string
		status int
		says   string
	}{
		"a field twice":       {[]formField{{"task", "", "x"}, {"task", "", "y"}}, nil, 400, `"task\" is there twice`},
		"an unknown field":    {[]formField{{"tsak", "", "x"}}, nil, 400, `unknown field \"tsak`},
		"a word for a number": {[]formField{{"maxTurns", "", "three"}}, nil, 400, "whole number"},
		"too many parts":      {many, nil, 413, "more than"},
		"a form that is cut":  {[]formField{{"task", "", "x"}}, func(s string) string { return s[:len(s)-20] }, 400, "not a valid form"},
		"another encoding": {[]formField{{"task", "", "x"}}, func(s string) string {
			return strings.Replace(s, "\r\n\r\n", "\r\nContent-Transfer-Encoding: base64\r\n\r\n", 1)
		}, 400, "transfer encoding"},
		"an encoding it reads so": {[]formField{{"task", "", "x"}}, func(s string) string {
			return strings.Replace(s, "\r\n\r\n", "\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", 1)
		}, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			body, kind := form(t, append([]formField{{"userId", "", "u1"}}, tc.fields...)...)
			if tc.change != nil {
				body = tc.change(body)
			}
			status, _, answer := start(t, &fakeService{vault: v, task: orchestrator.Task{Vault: v}}, all)("POST", "/task", body, "Content-Type", kind)
			if status != tc.status || !strings.Contains(answer, tc.says) {
				t.Errorf("answered %d %s", status, answer)
			}
		})
	}
}

// TestFileNamesOfFormsAreWhole shows the names to the check that those in JSON pass:
// multipart's own reading would take "../a" for "a".
func TestFileNamesOfFormsAreWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../etc/passwd", "/etc/passwd", `..\a`, "a/./b"} {
		v := newVault(t)
		f := &fakeService{vault: v, task: orchestrator.Task{Vault: v}}
		body, kind := form(t, formField{"userId", "", "u1"}, formField{"task", "", "x"}, formField{"files", name, "x"})
		start(t, f, all)("POST", "/task", body, "Content-Type", kind)
		if len(f.submitted.Files) != 1 || f.submitted.Files[0].Name != name {
			t.Errorf("%q was submitted as %+v", name, f.submitted.Files)
		}
	}
}
