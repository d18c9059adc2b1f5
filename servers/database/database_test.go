package database

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampleShop is made once for all tests.
var sampleShop = sync.OnceValues(func() ([]byte, error) { return shopImage(context.Background(), 1) })

// serve starts the server and returns what calls its tools: the text of the
// answer and whether it is an error.
func serve(t testing.TB, o Options) func(tool, arguments string) (string, bool) {
	t.Helper()
	o, err := o.checked()
	if err != nil {
		t.Fatal(err)
	}
	image, err := sampleShop()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return connect(ctx, t, cancel, start(ctx, o, image))
}

func connect(ctx context.Context, t testing.TB, cancel func(), server *mcpserver.MCPServer) func(tool, arguments string) (string, bool) {
	t.Helper()
	c, err := client.NewInProcessClient(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
	})
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	return func(tool, arguments string) (string, bool) {
		r := mcp.CallToolRequest{}
		r.Params.Name, r.Params.Arguments = tool, json.RawMessage(arguments)
		result, err := c.CallTool(ctx, r)
		if err != nil {
			t.Errorf("%s %s: %v", tool, arguments, err)
			return "", true
		}
		text, ok := result.Content[0].(mcp.TextContent)
		if !ok || len(result.Content) != 1 {
			t.Errorf("%s: not one text block", tool)
		}
		return text.Text, result.IsError
	}
}

func arguments(t testing.TB, fields map[string]any) string {
	t.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// makeFile makes a database file with one table.
func makeFile(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
}

func TestValuesKeepTheirTypesAndOrder(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{})
	for query, want := range map[string]string{
		`SELECT NULL AS z, 1 AS a, -1.5 AS m, 'x' AS b`:                                                        `[{"z":null,"a":1,"m":-1.5,"b":"x"}]`,
		`SELECT 9007199254740991 AS a, 9007199254740992 AS b, -9223372036854775808 AS c`:                       `[{"a":9007199254740991,"b":"9007199254740992","c":"-9223372036854775808"}]`,
		`SELECT 1e308*10 AS a, -1e308*10 AS b, 0.1+0.2 AS c, 1e3 AS d, 1e21 AS e`:                              `[{"a":"Infinity","b":"-Infinity","c":0.30000000000000004,"d":1000,"e":1e+21}]`,
		`SELECT x'00ff' AS a, x'' AS b, '' AS c`:                                                               `[{"a":"AP8=","b":"","c":""}]`,
		`SELECT 'it''s, "q"' || char(10) || 'é' AS a, ',' AS b, 'a' || char(0) || 'b' AS c`:                    `[{"a":"it's, \"q\"\né","b":",","c":"a\u0000b"}]`,
		`SELECT 1 AS id, 2 AS id`:                                                                              `[{"id":1,"id:1":2}]`,
		`SELECT 1 AS "a""b" -- the end`:                                                                        `[{"a\"b":1}]`,
		`VALUES (1,'a'),(2,'b');`:                                                                              `[{"column1":1,"column2":"a"},{"column1":2,"column2":"b"}]`,
		`SELECT id FROM sales WHERE 0`:                                                                         `[]`,
		`WITH n(x) AS (VALUES (3),(1),(2)) SELECT x FROM n ORDER BY x DESC`:                                    `[{"x":3},{"x":2},{"x":1}]`,
		`SELECT ';' AS a /* ; */ ; -- ; `:                                                                      `[{"a":";"}]`,
		`SELECT true AS t, json_object('k', 1) AS j`:                                                           `[{"t":1,"j":"{\"k\":1}"}]`,
		`SELECT name, type FROM pragma_table_info('products') LIMIT 1`:                                         `[{"name":"id","type":"INTEGER"}]`,
		`SELECT count(*) AS customers FROM customers`:                                                          `[{"customers":500}]`,
		`SELECT min(date) >= '2023-01-01' AS a, max(date) <= '2024-12-31' AS b FROM sales`:                     `[{"a":1,"b":1}]`,
		`SELECT count(*) AS n FROM sales WHERE amount <> round(quantity * unit_price, 2)`:                      `[{"n":0}]`,
		`SELECT count(*) AS n FROM sales s JOIN customers c ON c.id=s.customer_id WHERE c.created_at > s.date`: `[{"n":0}]`,
	} {
		if got, failed := call("query", arguments(t, map[string]any{"query": query})); failed || got != want {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
}

func TestTheSeedsQueryReturnsRows(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{})
	got, failed := call("query", `{"query":"SELECT * FROM sales WHERE date > '2024-01-01'"}`)
	var rows []struct {
		Date, Product, Category, Region string
		Amount, Quantity                float64
	}
	if err := json.Unmarshal([]byte(got), &rows); failed || err != nil || len(rows) < 1000 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Date <= "2024-01-01" || r.Product == "" || r.Category == "" || r.Region == "" || r.Amount <= 0 || r.Quantity < 1 {
			t.Fatalf("row %+v", r)
		}
	}
}

func TestParametersAreBoundExactly(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{})
	for in, want := range map[string]string{
		`{"query":"SELECT ? AS a, ? AS b, ? AS c, ? AS d","params":[9007199254740993,"x';--",null,1.5]}`: `[{"a":"9007199254740993","b":"x';--","c":null,"d":1.5}]`,
		`{"query":"SELECT :x AS a, @y AS b, $x AS c","params":{"x":true,"y":"z"}}`:                       `[{"a":1,"b":"z","c":1}]`,
		`{"query":"SELECT 1 AS a","params":[]}`:                                                          `[{"a":1}]`,
	} {
		if got, failed := call("query", in); failed || got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestNothingIsWrittenOrConfigured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "stock.sqlite")
	makeFile(t, path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	call := serve(t, Options{Dir: dir})
	for _, query := range []string{
		"INSERT INTO t VALUES (2)", "UPDATE t SET a=2", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a)", "ALTER TABLE t ADD b",
		"WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "WITH x AS (SELECT 1) DELETE FROM t", "REPLACE INTO t VALUES (1)",
		"ATTACH '" + filepath.Join(dir, "new.db") + "' AS n", "DETACH main", "PRAGMA query_only=0", "PRAGMA journal_mode=WAL", "VACUUM",
		"VACUUM INTO '" + filepath.Join(dir, "copy.db") + "'", "REINDEX", "ANALYZE", "BEGIN", "SAVEPOINT s", "EXPLAIN SELECT 1",
		"SELECT 1; DELETE FROM t", "SELECT 1 ;; SELECT 2", "SELECT load_extension('x')", "SELECT * FROM pragma_database_list",
		"SELECT * FROM pragma_query_only", "SELECT writefile('x','y')", "SELECT 1) ; DELETE FROM t; --", "", " -- nothing\n", ";", "\x00",
	} {
		if got, failed := call("query", arguments(t, map[string]any{"query": query, "database": "stock"})); !failed {
			t.Errorf("%s: answered %s", query, got)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file changed: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("files appeared: %v, %v", entries, err)
	}
}

func TestMistakesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{})
	for _, c := range []struct{ tool, arguments, want string }{
		{"query", `{"query":"SELECT * FROM custmers"}`, `no such table: custmers; did you mean "customers"?`},
		{"query", `{"query":"SELECT emial FROM customers"}`, `no such column: emial; did you mean "email"?`},
		{"query", `{"query":"SELECT c.emial FROM customers c"}`, `did you mean "email"?`},
		{"query", `{"query":"SELECT FROM"}`, `syntax error`},
		{"query", `{"query":"DELETE FROM sales"}`, `this server only reads`},
		{"query", `{"query":"SELECT 1; SELECT 2"}`, `one statement at a time`},
		{"query", `{"query":"SELECT 1","database":"shpo"}`, `no such database; did you mean "shop"? The databases are: shop`},
		{"query", `{"query":"SELECT 1","database":"../../etc/passwd"}`, `no such database`},
		{"query", `{"query":"SELECT 1","limit":5}`, `unknown field "limit"`},
		{"query", `{"query":5}`, `arguments: `},
		{"query", `{"query":"SELECT ?","params":[{}]}`, `params must be a list of values`},
		{"query", `{"query":"SELECT ?","params":"x"}`, `params must be a list of values`},
		{"query", `{"query":"SELECT ? AS a, ? AS b","params":[1]}`, `missing argument`},
		{"describe_table", `{"table":"custmers"}`, `no such table; did you mean "customers"?`},
		{"list_tables", `{"database":"x"}`, `no such database`},
	} {
		if got, failed := call(c.tool, c.arguments); !failed || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s\nwant %s", c.tool, c.arguments, got, c.want)
		}
	}
}

func TestLimitsFailWithAWayOutAndNeverCut(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{MaxRows: 100, MaxBytes: 10_000, MaxTime: 300 * time.Millisecond})
	const endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM n) "
	for name, c := range map[string]struct{ query, want string }{
		"rows":                    {"SELECT id FROM sales", "more than 100 rows and none are returned; aggregate in SQL, or page"},
		"endless rows":            {endless + "SELECT x FROM n", "more than 100 rows"},
		"bytes":                   {"SELECT * FROM sales LIMIT 100", "more than 10000 bytes and nothing is returned"},
		"one long value":          {"SELECT zeroblob(1000000000)", "more than 10000 bytes"},
		"endless without rows":    {endless + "SELECT count(*) FROM n", "the query takes too long: over 300ms"},
		"endless after the first": {"SELECT 1 UNION ALL SELECT * FROM (" + endless + "SELECT x FROM n WHERE x < 0)", "the query takes too long"},
	} {
		began := time.Now()
		got, failed := call("query", arguments(t, map[string]any{"query": c.query}))
		if !failed || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.200s\nwant %s", name, got, c.want)
		}
		if spent := time.Since(began); spent > 5*time.Second {
			t.Errorf("%s: took %s", name, spent)
		}
	}
	if got, failed := call("query", `{"query":"SELECT id FROM sales ORDER BY id LIMIT 100"}`); failed || !strings.HasSuffix(got, `{"id":100}]`) {
		t.Errorf("exactly at the limit: %s", got)
	}
}

func TestToolsDescribeDatabases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeFile(t, filepath.Join(dir, "stock.db"), `CREATE TABLE "a b" (k TEXT PRIMARY KEY, v INTEGER NOT NULL DEFAULT 0); CREATE VIEW w AS SELECT k FROM "a b"`)
	if err := os.WriteFile(filepath.Join(dir, "broken.sqlite"), []byte(strings.Repeat("no database", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	call := serve(t, Options{Dir: dir})
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_databases", `{}`, `[{"name":"shop","tables":["customers","products","sales"]},{"name":"broken","tables":[],"error":"the file is not an SQLite database"},{"name":"stock","tables":["a b","w"]}]`},
		{"list_tables", `{"database":"stock"}`, `[{"columns":["k","v"],"name":"a b","rows":0,"type":"table"},{"columns":["k"],"name":"w","rows":0,"type":"view"}]`},
		{"describe_table", `{"database":"stock","table":"A B"}`, `{"name":"a b","type":"table","rows":0,"columns":[{"name":"k","type":"TEXT","nullable":true,"primaryKey":true},{"name":"v","type":"INTEGER","nullable":false}]}`},
	} {
		if got, failed := call(c.tool, c.arguments); failed || got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.tool, got, c.want)
		}
	}
	got, _ := call("describe_table", `{"table":"sales"}`)
	if !strings.Contains(got, `"rows":5000`) || !strings.Contains(got, `{"column":"customer_id","references":"customers(id)"}`) {
		t.Errorf("describe_table sales: %s", got)
	}
}

func TestReplacedFileIsReadAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "d.db")
	makeFile(t, path, "CREATE TABLE t AS SELECT 1 AS a")
	call := serve(t, Options{Dir: dir})
	query := `{"query":"SELECT a FROM t","database":"d"}`
	if got, _ := call("query", query); got != `[{"a":1}]` {
		t.Errorf("first: %s", got)
	}
	makeFile(t, filepath.Join(dir, "new"), "CREATE TABLE t AS SELECT 2 AS a")
	if err := os.Rename(filepath.Join(dir, "new"), path); err != nil {
		t.Fatal(err)
	}
	if got, _ := call("query", query); got != `[{"a":2}]` {
		t.Errorf("second: %s", got)
	}
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	call := serve(t, Options{})
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if got, failed := call("query", `{"query":"SELECT count(*) AS n FROM sales s JOIN customers c ON c.id = s.customer_id"}`); failed || got != `[{"n":5000}]` {
				t.Errorf("got %s", got)
			}
		})
	}
	all.Wait()
}

func TestNewServesTheShopOfItsSeed(t *testing.T) {
	t.Parallel()
	builtin, err := New(Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]bool{}
	for range 2 { // started again, it serves the same
		ctx, cancel := context.WithCancel(context.Background())
		server, err := builtin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got, failed := connect(ctx, t, cancel, server)("query", `{"query":"SELECT sum(amount) AS total FROM sales"}`)
		answers[fmt.Sprint(got, failed)] = true
	}
	if len(answers) != 1 {
		t.Errorf("answers: %v", answers)
	}
}

func TestSameSeedSameShop(t *testing.T) {
	t.Parallel()
	sums := map[uint64]string{}
	for _, seed := range []uint64{1, 1, 2} {
		image, err := shopImage(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(image))
		if known, ok := sums[seed]; ok && known != sum {
			t.Errorf("seed %d gave two shops", seed)
		}
		sums[seed] = sum
	}
	if sums[1] == sums[2] {
		t.Error("two seeds gave one shop")
	}
}

func TestCardNumbersPassLuhn(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]byte{"411111111111111": '1', "37828224631000": '5', "7992739871": '3', "": '0'} {
		if got := luhnDigit(number); got != want {
			t.Errorf("luhnDigit(%s) = %c, want %c", number, got, want)
		}
	}
	call := serve(t, Options{})
	got, _ := call("query", `{"query":"SELECT card_number AS c FROM customers"}`)
	var rows []struct{ C string }
	if err := json.Unmarshal([]byte(got), &rows); err != nil || len(rows) != sampleCustomers {
		t.Fatal(len(rows), err)
	}
	for _, r := range rows {
		if n := len(r.C); n < 15 || n > 16 || luhnDigit(r.C[:n-1]) != r.C[n-1] {
			t.Errorf("card %s", r.C)
		}
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no folder":      {Dir: filepath.Join(t.TempDir(), "none")},
		"negative limit": {MaxRows: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzStatement checks that no statement separator passes outside of quotes and
// comments.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SELECT ';'--;", "WITH a AS (SELECT 1) SELECT * FROM a;", "SELECT [;]", "SELECT `;`", "/* ; */ VALUES (1)", "SELECT 'a''b;' ;", "SELECT 1;;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stmt, err := parseStatement(text)
		if err != nil {
			return
		}
		if strings.Contains(stmt.text, ";") && !strings.ContainsAny(stmt.text, "'\"`[/-") {
			t.Errorf("%q passed as %q", text, stmt.text)
		}
	})
}

// FuzzEncodeRows checks that any text comes through.
func FuzzEncodeRows(f *testing.F) {
	f.Add("a'b,c\nd", int64(5))
	f.Fuzz(func(t *testing.T, s string, i int64) {
		cell := "'" + strings.ReplaceAll(s, "'", "''") + "'"
		out, err := encodeRows([]string{"s", "i", "s2"}, fmt.Sprintf("%s,%d,%s\nNULL,X'00',%s", cell, i, cell, cell))
		if err != nil {
			t.Fatal(err)
		}
		var rows []map[string]any
		if err := json.Unmarshal(out, &rows); err != nil || len(rows) != 2 || rows[0]["s"] != strings.ToValidUTF8(s, "\uFFFD") && !strings.ContainsRune(rows[0]["s"].(string), '\uFFFD') {
			t.Errorf("%q became %s, %v", s, out, err)
		}
	})
}

func BenchmarkQuery(b *testing.B) {
	call := serve(b, Options{})
	for name, query := range map[string]string{
		"one row":   "SELECT sum(amount) AS total FROM sales",
		"2631 rows": "SELECT * FROM sales WHERE date > '2024-01-01'",
	} {
		in := arguments(b, map[string]any{"query": query})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got, failed := call("query", in); failed {
					b.Fatal(got)
				}
			}
		})
	}
}
