package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	_ "modernc.org/sqlite" // the driver that the shop is made with
)

// The sample shop: two years of sales that grow and have a season, with
// customers whose every personal value is invented and, where a range is
// reserved for examples, taken from it.
const (
	sampleCustomers = 500
	sampleSales     = 5_000
	sampleMonths    = 24 // January 2023 to December 2024
	sampleYear      = 2023
)

const sampleSchema = `
CREATE TABLE products (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT, address TEXT NOT NULL,
  city TEXT NOT NULL, country TEXT NOT NULL, region TEXT NOT NULL, ssn TEXT, card_number TEXT NOT NULL,
  last_login_ip TEXT, created_at TEXT NOT NULL);
CREATE TABLE sales (
  id INTEGER PRIMARY KEY, date TEXT NOT NULL, customer_id INTEGER NOT NULL REFERENCES customers(id),
  product_id INTEGER NOT NULL REFERENCES products(id), product TEXT NOT NULL, category TEXT NOT NULL,
  region TEXT NOT NULL, quantity INTEGER NOT NULL, unit_price REAL NOT NULL, amount REAL NOT NULL);
CREATE INDEX sales_date ON sales(date);
CREATE INDEX sales_customer ON sales(customer_id);
`

// shopImage makes the shop and returns it as the bytes of a database file.
func shopImage(ctx context.Context, seed uint64) (image []byte, err error) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := fillShop(ctx, conn, seed); err != nil {
		return nil, err
	}
	err = conn.Raw(func(c any) error {
		s, ok := c.(interface{ Serialize() ([]byte, error) })
		if !ok {
			return errors.New("the driver cannot make an image")
		}
		image, err = s.Serialize()
		return err
	})
	return image, err
}

func fillShop(ctx context.Context, conn *sql.Conn, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0x5ab1e))
	products := sampleProducts(random)
	customers := makeCustomers(random)
	if _, err := conn.ExecContext(ctx, sampleSchema+"BEGIN"); err != nil {
		return err
	}
	if err := insert(ctx, conn, "products", products); err != nil {
		return err
	}
	if err := insert(ctx, conn, "customers", customers); err != nil {
		return err
	}
	if err := insert(ctx, conn, "sales", makeSales(random, customers, products)); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	return err
}

// record is a row that knows its values in the order of its table's columns.
type record interface{ values() []any }

func insert[R record](ctx context.Context, conn *sql.Conn, table string, records []R) error {
	places := "?"
	for range len(records[0].values()) - 1 {
		places += ",?"
	}
	stmt, err := conn.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", table, places))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, r := range records {
		if _, err := stmt.ExecContext(ctx, r.values()...); err != nil {
			return fmt.Errorf("fill %s: %w", table, err)
		}
	}
	return nil
}
