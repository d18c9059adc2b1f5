package skills_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"airlock/ident"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/servers"
	"airlock/servers/database"
)

// shop is the sample shop behind the built-in database server, as the bridge
// shows it to scripts: personal values are tokens.
type shop struct {
	t       *testing.T
	servers *servers.Manager
	vault   *pii.Vault
	caller  servers.Caller
}

func openShop(t *testing.T) *shop {
	t.Helper()
	file := filepath.Join(t.TempDir(), "catalog.json")
	err := os.WriteFile(file, []byte(`{"schemaVersion":1,"servers":{"database":{"transport":"builtin"}}}`), 0o600)
	must(t, err)
	catalog, err := servers.LoadCatalog(file, os.LookupEnv)
	must(t, err)
	builtin, err := database.New(database.Options{Seed: 1})
	must(t, err)
	manager, err := servers.New(servers.Options{
		Catalog: catalog, Builtins: map[string]servers.Builtin{"database": builtin},
		Environ: os.LookupEnv, CacheDir: t.TempDir(),
	})
	must(t, err)
	t.Cleanup(func() { must(t, manager.Close()) })
	detector, err := detect.New(detect.Options{})
	must(t, err)
	vault, err := pii.NewVault(pii.VaultOptions{Detector: detector, Nonce: "k7q2f"})
	must(t, err)
	return &shop{t, manager, vault, servers.Caller{User: "tester", Session: ident.NewSession()}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in is the shop for a test within the one that opened it.
func (s *shop) in(t *testing.T) *shop {
	inner := *s
	inner.t = t
	return &inner
}

// TestLibrary runs every shipped skill on the sample shop, in Node.
func TestLibrary(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for name, test := range map[string]func(*testing.T, *shop){
		"the sales summary adds up":          salesSummaryAddsUp,
		"the top customers add up":           topCustomersAddsUp,
		"the monthly trend adds up":          monthlyTrendAddsUp,
		"the data-quality check finds flaws": dataQualityCheckFindsTheShopsFlaws,
		"skills say what they lack":          skillsSayWhatIsMissing,
	} {
		t.Run(name, func(t *testing.T) { test(t, s.in(t)) })
	}
}

// call calls a tool and returns what callMCPTool would.
func (s *shop) call(name string, args any) (json.RawMessage, error) {
	data, err := json.Marshal(args)
	must(s.t, err)
	result, err := s.servers.Call(s.t.Context(), s.caller, name, data)
	must(s.t, err)
	text, err := s.vault.Tokenize(result.JSON, pii.OriginServer("database"))
	must(s.t, err)
	var answer struct {
		Content []struct{ Text string }
	}
	must(s.t, json.Unmarshal([]byte(text.String()), &answer))
	if result.IsError {
		return nil, fmt.Errorf("%s", answer.Content[0].Text)
	}
	return json.RawMessage(answer.Content[0].Text), nil
}

// query reads rows of the shop.
func (s *shop) query(sql string, into any) {
	s.t.Helper()
	rows, err := s.call("database__query", map[string]string{"query": sql})
	must(s.t, err)
	must(s.t, json.Unmarshal(rows, into))
}

// outcome is what a skill left.
type outcome struct {
	Result json.RawMessage
	Files  map[string]string
	Thrown string
}

// report is the field that every skill returns.
func (o outcome) report(t *testing.T) string {
	t.Helper()
	var r struct{ Report string }
	must(t, json.Unmarshal(o.Result, &r))
	return r.Report
}

// run runs a shipped skill in Node.
func (s *shop) run(skill, input string, tools ...string) outcome {
	s.t.Helper()
	if len(tools) == 0 {
		tools = []string{"database__query", "database__list_tables", "database__describe_table", "other__tool"}
	}
	schemas := map[string]any{}
	for _, name := range tools {
		schemas[name] = map[string]any{"type": "object", "properties": map[string]any{"query": map[string]any{"type": "string"}}}
	}
	known, err := json.Marshal(schemas)
	must(s.t, err)
	file, err := filepath.Abs(filepath.Join("library", skill, "main.js"))
	must(s.t, err)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", filepath.Join("testdata", "run.js"), file, input, string(known))
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	must(s.t, err)
	out, err := node.StdoutPipe()
	must(s.t, err)
	must(s.t, node.Start())
	result := s.serve(in, out)
	must(s.t, node.Wait())
	return result
}

// serve answers a skill's calls until it is done.
func (s *shop) serve(in io.WriteCloser, out io.Reader) outcome {
	defer in.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m struct {
			outcome
			Call int
			Name string
			Args json.RawMessage
		}
		must(s.t, json.Unmarshal(lines.Bytes(), &m))
		if m.Call == 0 {
			return m.outcome
		}
		answer := map[string]any{"id": m.Call}
		if result, err := s.call(m.Name, m.Args); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["result"] = result
		}
		data, err := json.Marshal(answer)
		must(s.t, err)
		_, err = in.Write(append(data, '\n'))
		must(s.t, err)
	}
	s.t.Fatal("the skill ended without a result")
	return outcome{}
}

// sale is a row of the table sales, for adding up apart from SQL.
type sale struct {
	Date, Category, Product, Region string
	Customer                        int `json:"customer_id"`
	Quantity                        int
	Amount                          float64
}

// sums of sales, in cents.
type sums struct{ cents, sales, units int }

func (s *shop) sales() []sale {
	var all []sale
	s.query("SELECT * FROM sales", &all)
	return all
}

func add(all []sale, keep func(sale) bool) sums {
	var t sums
	for _, x := range all {
		if keep(x) {
			t.cents += int(math.Round(x.Amount * 100))
			t.sales++
			t.units += x.Quantity
		}
	}
	return t
}

// totals is how skills give sums.
type totals struct {
	Label        string
	Revenue      float64
	Sales, Units int
}

func (x totals) sums() sums { return sums{int(math.Round(x.Revenue * 100)), x.Sales, x.Units} }

// money is a sum as reports have it.
func money(cents int) string {
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("%s.%02d", whole, cents%100)
}

func salesSummaryAddsUp(t *testing.T, s *shop) {
	all := s.sales()
	for name, tc := range map[string]struct {
		input string
		keep  func(sale) bool
		title string
	}{
		"the latest full month": {`{"task":"x"}`, func(x sale) bool { return x.Date >= "2024-12-01" && x.Date <= "2024-12-31" }, "December 2024"},
		"a period": {`{"from":"2023-02-10","to":"2023-05-09"}`,
			func(x sale) bool { return x.Date >= "2023-02-10" && x.Date <= "2023-05-09" }, "2023-02-10 to 2023-05-09"},
		"from a day on": {`{"from":"2024-06-01"}`, func(x sale) bool { return x.Date >= "2024-06-01" }, "2024-06-01 to 2024-12-"},
		"a category": {`{"from":"2024-01-01","to":"2024-12-31","names":["Camping"]}`,
			func(x sale) bool { return x.Date >= "2024-01-01" && x.Category == "Camping" }, "2024-01-01 to 2024-12-31"},
		"an empty period": {`{"from":"2019-01-01","to":"2019-01-31"}`, func(sale) bool { return false }, "January 2019"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			out := s.run("sales-summary", tc.input)
			if out.Thrown != "" {
				t.Fatal(out.Thrown)
			}
			var r struct {
				Totals                            totals
				ByCategory, ByRegion, TopProducts []totals
				Artifacts                         []string
			}
			must(t, json.Unmarshal(out.Result, &r))
			want := add(all, tc.keep)
			if r.Totals.sums() != want {
				t.Errorf("totals are %+v, want %+v", r.Totals.sums(), want)
			}
			for _, g := range r.ByCategory {
				if want := add(all, func(x sale) bool { return tc.keep(x) && x.Category == g.Label }); g.sums() != want {
					t.Errorf("category %s has %+v, want %+v", g.Label, g.sums(), want)
				}
			}
			for _, g := range r.ByRegion {
				if want := add(all, func(x sale) bool { return tc.keep(x) && x.Region == g.Label }); g.sums() != want {
					t.Errorf("region %s has %+v, want %+v", g.Label, g.sums(), want)
				}
			}
			for i, g := range r.TopProducts {
				if i > 0 && g.Revenue > r.TopProducts[i-1].Revenue {
					t.Errorf("product %s is out of order", g.Label)
				}
			}
			report := out.report(t)
			if !strings.HasPrefix(report, "# Sales summary: "+tc.title) || !strings.Contains(report, "**"+money(want.cents)+"**") {
				t.Errorf("the report lacks title or total %s:\n%s", money(want.cents), report)
			}
			if len(r.Artifacts) != 1 || out.Files["/artifacts/"+r.Artifacts[0]] != report {
				t.Errorf("artifacts are %v of %d files", r.Artifacts, len(out.Files))
			}
		})
	}
}

func topCustomersAddsUp(t *testing.T, s *shop) {
	all := s.sales()
	out := s.run("top-customers", `{"limit":7}`)
	if out.Thrown != "" {
		t.Fatal(out.Thrown)
	}
	var r struct {
		Customers []struct {
			ID, Sales   int
			Revenue     float64
			Name, Email string
		}
		Total totals
	}
	must(t, json.Unmarshal(out.Result, &r))
	if len(r.Customers) != 7 {
		t.Fatalf("there are %d customers", len(r.Customers))
	}
	revenue := map[int]int{}
	for _, x := range all {
		revenue[x.Customer] += int(math.Round(x.Amount * 100))
	}
	var ranked []int
	for _, cents := range revenue {
		ranked = append(ranked, cents)
	}
	slices.Sort(ranked)
	slices.Reverse(ranked)
	for i, c := range r.Customers {
		if got := int(math.Round(c.Revenue * 100)); got != ranked[i] || got != revenue[c.ID] {
			t.Errorf("rank %d has %d, want %d", i+1, got, ranked[i])
		}
		if !strings.HasPrefix(c.Email, "[EMAIL_") || !strings.Contains(out.report(t), c.Email) {
			t.Errorf("rank %d has an e-mail that is no token, or is not in the report", i+1)
		}
	}
	if want := add(all, func(sale) bool { return true }); r.Total.Sales != want.sales || int(math.Round(r.Total.Revenue*100)) != want.cents {
		t.Errorf("total is %+v, want %+v", r.Total, want)
	}
}

func monthlyTrendAddsUp(t *testing.T, s *shop) {
	all := s.sales()
	for name, tc := range map[string]struct {
		input   string
		periods int
		key     func(date string) string
		csv     string
	}{
		"months":       {`{}`, 24, func(d string) string { return d[:7] }, "monthly-trend.csv"},
		"years":        {`{"by":"year"}`, 2, func(d string) string { return d[:4] }, "yearly-trend.csv"},
		"quarters":     {`{"by":"quarter"}`, 8, func(d string) string { return fmt.Sprintf("%s-Q%d", d[:4], (int(d[5]-'0')*10+int(d[6]-'0')+2)/3) }, "quarterly-trend.csv"},
		"some months":  {`{"from":"2024-03-01","to":"2024-05-31"}`, 3, func(d string) string { return d[:7] }, "monthly-trend.csv"},
		"empty months": {`{"from":"2022-11-01"}`, 26, func(d string) string { return d[:7] }, "monthly-trend.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			out := s.run("monthly-trend", tc.input)
			if out.Thrown != "" {
				t.Fatal(out.Thrown)
			}
			var r struct {
				Periods []struct {
					totals
					Period   string
					Complete bool
				}
			}
			must(t, json.Unmarshal(out.Result, &r))
			if len(r.Periods) != tc.periods {
				t.Fatalf("there are %d periods, want %d", len(r.Periods), tc.periods)
			}
			csv := strings.Split(strings.TrimSpace(out.Files["/artifacts/"+tc.csv]), "\n")
			if len(csv) != tc.periods+1 {
				t.Fatalf("the CSV has %d lines", len(csv))
			}
			for i, p := range r.Periods {
				want := add(all, func(x sale) bool { return tc.key(x.Date) == p.Period })
				if p.sums() != want || !p.Complete {
					t.Errorf("%s has %+v, complete %v, want %+v", p.Period, p.sums(), p.Complete, want)
				}
				line := fmt.Sprintf("%s,%d.%02d,%d,%d,", p.Period, want.cents/100, want.cents%100, want.sales, want.units)
				if !strings.HasPrefix(csv[i+1], line) {
					t.Errorf("the CSV has %q, want %q", csv[i+1], line)
				}
			}
		})
	}
}

func dataQualityCheckFindsTheShopsFlaws(t *testing.T, s *shop) {
	out := s.run("data-quality-check", `{}`)
	if out.Thrown != "" {
		t.Fatal(out.Thrown)
	}
	var r struct {
		Findings []struct {
			Table, Column, Check string
			Count, Rows          int
			Examples             []string
		}
	}
	must(t, json.Unmarshal(out.Result, &r))
	var phones []struct{ N int }
	s.query("SELECT COUNT(*) AS n FROM customers WHERE phone IS NULL", &phones)
	found := map[string]int{}
	for _, f := range r.Findings {
		found[f.Table+"."+f.Column+" "+f.Check] = f.Count
		for _, e := range f.Examples {
			if !strings.HasPrefix(e, "[EMAIL_") {
				t.Errorf("an example is no token")
			}
		}
	}
	if got := found["customers.phone missing"]; got != phones[0].N || got == 0 {
		t.Errorf("missing phones: %d, want %d", got, phones[0].N)
	}
	if got := found["customers.email shared with another row"]; got != 8 {
		t.Errorf("shared addresses: %d, want 8", got)
	}
	var rows []map[string]any
	s.query("SELECT * FROM sales", &rows)
	distinct := map[string]bool{}
	for _, row := range rows {
		delete(row, "id")
		distinct[fmt.Sprint(row)] = true
	}
	for _, f := range r.Findings {
		if f.Table == "sales" && (f.Column != "(whole row)" || f.Count != len(rows)-len(distinct)) {
			t.Errorf("in the sales only %d equal rows are to be found, but found %+v", len(rows)-len(distinct), f)
		}
	}
	if !strings.Contains(out.report(t), "| customers | email | shared with another row | 8 |") {
		t.Errorf("the report lacks the finding:\n%s", out.report(t))
	}
}

func skillsSayWhatIsMissing(t *testing.T, s *shop) {
	for name, tc := range map[string]struct{ skill, input, tool, want string }{
		"a database, for the summary":   {"sales-summary", `{}`, "other__tool", "No database server is connected"},
		"a database, for the customers": {"top-customers", `{}`, "other__tool", "No database server is connected"},
		"a database, for the trend":     {"monthly-trend", `{}`, "other__tool", "No database server is connected"},
		"a database, for the check":     {"data-quality-check", `{}`, "other__tool", "No database server is connected"},
		"sales of a name":               {"sales-summary", `{"names":["it's \" nothing"]}`, "database__query", "No sales match"},
		"a date":                        {"sales-summary", `{"from":"yesterday"}`, "database__query", "must be days"},
		"a period in order":             {"sales-summary", `{"from":"2024-02-01","to":"2024-01-01"}`, "database__query", "must not be after"},
		"tables of a name":              {"data-quality-check", `{"names":["nothing"]}`, "", "None of the tables"},
		"a known step":                  {"monthly-trend", `{"by":"region"}`, "database__query", "must be month, quarter or year"},
		"sales for a trend":             {"monthly-trend", `{"to":"2000-01-01"}`, "database__query", "no sales that match"},
		"sales for a ranking":           {"top-customers", `{"to":"2000-01-01"}`, "database__query", "no sales that match"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			var tools []string
			if tc.tool != "" {
				tools = append(tools, tc.tool)
			}
			if out := s.run(tc.skill, tc.input, tools...); !strings.Contains(out.Thrown, tc.want) {
				t.Errorf("said %q, want %q", out.Thrown, tc.want)
			}
		})
	}
}
