package parameters

import (
	"reflect"
	"slices"
	"testing"
)

func TestReadFindsDeclaredInputs(t *testing.T) {
	t.Parallel()
	type in = map[string]any
	file, formula := Input{Name: "file", Type: "file", Required: true}, Input{Name: "expression", Type: "formula", Required: true}
	for task, tc := range map[string]struct {
		inputs  []Input
		want    in
		missing []string
	}{
		"totals of sales.csv by region":               {[]Input{file}, in{"file": "sales.csv"}, nil},
		"look at /workspace/in/app.log, please":       {[]Input{file}, in{"file": "/workspace/in/app.log"}, nil},
		"what is in the file":                         {[]Input{file}, in{}, []string{"file"}},
		`clean "my.csv" by "Region"`:                  {[]Input{{Name: "names", Type: "string"}, file}, in{"file": "my.csv", "names": []string{"Region"}}, nil},
		"what is the derivative of x^2 + 3x?":         {[]Input{formula}, in{"expression": "x^2 + 3x"}, nil},
		"integrate sin(x)*x from 0 to 1":              {[]Input{formula}, in{"expression": "sin(x)*x"}, nil},
		"solve x^2 = 4 for x.":                        {[]Input{formula}, in{"expression": "x^2 = 4"}, nil},
		"expand (a + b)^3, then stop":                 {[]Input{formula}, in{"expression": "(a + b)^3"}, nil},
		`solve "x + y = 3" and "x - y = 1"`:           {[]Input{formula}, in{"expression": "x + y = 3; x - y = 1"}, nil},
		"I have a problem (a big one) and/or none":    {[]Input{formula}, in{}, []string{"expression"}},
		"draw a pie chart":                            {[]Input{{Name: "kind", Type: "string", Enum: []string{"bar", "pie"}}}, in{"kind": "pie"}, nil},
		"bars or pies, whatever":                      {[]Input{{Name: "kind", Type: "string", Enum: []string{"bar", "pie"}}}, in{}, nil},
		"monthly revenue":                             {[]Input{{Name: "by", Type: "string", Enum: []string{"month", "year"}}}, in{"by": "month"}, nil},
		"the five best and a width of 80":             {[]Input{{Name: "limit", Type: "integer"}, {Name: "width", Type: "integer"}}, in{"limit": 5, "width": 80}, nil},
		"a threshold of 0.5":                          {[]Input{{Name: "threshold", Type: "number"}}, in{"threshold": 0.5}, nil},
		"a threshold of 0.5 as a whole":               {[]Input{{Name: "threshold", Type: "integer"}}, in{}, nil},
		"without a header":                            {[]Input{{Name: "header", Type: "boolean"}}, in{"header": false}, nil},
		"without header, with totals":                 {[]Input{{Name: "header", Type: "boolean"}, {Name: "totals", Type: "boolean"}}, in{"header": false, "totals": true}, nil},
		"sales in March 2024":                         {[]Input{{Name: "from", Type: "date"}, {Name: "until", Type: "date"}, {Name: "month", Type: "month"}, {Name: "day", Type: "date"}}, in{"from": "2024-03-01", "until": "2024-03-31", "month": "2024-03", "period": "March 2024"}, nil},
		"orders on 2024-02-29":                        {[]Input{{Name: "day", Type: "date"}, {Name: "month", Type: "month"}}, in{"day": "2024-02-29", "month": "2024-02"}, nil},
		`the repository "/srv/app" and "main" please`: {[]Input{{Name: "repository", Type: "string"}, {Name: "branch", Type: "string"}}, in{"repository": "/srv/app", "branch": "main"}, nil},
		"top 5 of last month":                         {nil, in{"limit": 5, "period": "last month", "from": "2024-04-01", "to": "2024-04-30"}, nil},
	} {
		got, missing := Of(task, thursday).Read(tc.inputs)
		if !reflect.DeepEqual(got, tc.want) || !slices.Equal(missing, tc.missing) {
			t.Errorf("%s\n got %v, missing %v\nwant %v, missing %v", task, got, missing, tc.want, tc.missing)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("solve (a + b)^3 = 2x of my.csv by 5 \"x\"")
	inputs := []Input{{Name: "expression", Type: "formula"}, {Name: "file", Type: "file"}, {Name: "n", Type: "integer"}, {Name: "b", Type: "boolean"}, {Name: "names", Type: "string"}}
	f.Fuzz(func(t *testing.T, task string) {
		values, missing := Of(task, thursday).Read(inputs)
		if len(missing) > 0 {
			t.Errorf("%q lacks %v, which is not required", task, missing)
		}
		if f, ok := values["expression"].(string); ok && f == "" {
			t.Errorf("%q gave an empty formula", task)
		}
		Without(task, inputs, "unknown")
	})
}
