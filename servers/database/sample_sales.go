package database

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

type product struct {
	id             int
	name, category string
	cents          int
	stock          int
}

func (p product) values() []any { return []any{p.id, p.name, p.category, money(p.cents), p.stock} }

// money is an amount of cents as the number with two decimals.
func money(cents int) float64 { return float64(cents) / 100 }

var shelf = []product{
	{name: "Trail Tent 2P", category: "Camping", cents: 18900},
	{name: "Down Sleeping Bag", category: "Camping", cents: 14950},
	{name: "Camp Stove", category: "Camping", cents: 6490},
	{name: "LED Lantern", category: "Camping", cents: 2995},
	{name: "Hiking Boots", category: "Footwear", cents: 12900},
	{name: "Trail Running Shoes", category: "Footwear", cents: 10950},
	{name: "Approach Shoes", category: "Footwear", cents: 11900},
	{name: "Wool Socks", category: "Footwear", cents: 1790},
	{name: "Rain Jacket", category: "Clothing", cents: 13990},
	{name: "Fleece Pullover", category: "Clothing", cents: 7900},
	{name: "Hiking Trousers", category: "Clothing", cents: 8450},
	{name: "Merino Base Layer", category: "Clothing", cents: 6900},
	{name: "Climbing Harness", category: "Climbing", cents: 7495},
	{name: "Dynamic Rope 60m", category: "Climbing", cents: 16900},
	{name: "Chalk Bag", category: "Climbing", cents: 1995},
	{name: "Carabiner Set", category: "Climbing", cents: 4490},
	{name: "GPS Watch", category: "Electronics", cents: 34900},
	{name: "Headlamp", category: "Electronics", cents: 4995},
	{name: "Solar Charger", category: "Electronics", cents: 8990},
	{name: "Water Filter", category: "Electronics", cents: 3990},
}

func sampleProducts(random *rand.Rand) []product {
	products := slices.Clone(shelf)
	for i := range products {
		products[i].id = i + 1
		products[i].stock = 20 + random.IntN(400)
	}
	return products
}

type sale struct {
	id       int
	date     time.Time
	customer customer
	product  product
	quantity int
	cents    int // of one piece
}

func (s sale) values() []any {
	return []any{s.id, s.date.Format(time.DateOnly), s.customer.id, s.product.id, s.product.name, s.product.category,
		s.customer.region, s.quantity, money(s.cents), money(s.cents * s.quantity)}
}

// season is how much is sold in each month, in per cent of the average.
var season = [12]int{78, 75, 88, 95, 106, 112, 118, 104, 92, 90, 118, 134}

// makeSales spreads the sales over the months by season and by growth of 1.5 %
// a month, and numbers them by date.
func makeSales(random *rand.Rand, customers []customer, products []product) []sale {
	weights, total := make([]int, sampleMonths), 0
	for m := range weights {
		weights[m] = season[m%12] * (1000 + 15*m)
		total += weights[m]
	}
	sales := make([]sale, sampleSales)
	for i := range sales {
		sales[i] = makeSale(random, monthOf(weights, random.IntN(total)), customers, products)
	}
	slices.SortStableFunc(sales, func(a, b sale) int { return cmp.Compare(a.date.Unix(), b.date.Unix()) })
	for i := range sales {
		sales[i].id = i + 1
	}
	return sales
}

func monthOf(weights []int, at int) int {
	for m, w := range weights {
		if at -= w; at < 0 {
			return m
		}
	}
	return len(weights) - 1
}

func makeSale(random *rand.Rand, month int, customers []customer, products []product) sale {
	first := time.Date(sampleYear, time.January+time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	days := first.AddDate(0, 1, -1).Day()
	s := sale{date: first.AddDate(0, 0, random.IntN(days)), product: products[skewed(random, len(products))], quantity: 1}
	for s.customer.id == 0 || s.customer.created.After(s.date) {
		s.customer = customers[skewed(random, len(customers))]
	}
	if s.product.cents < 9000 {
		s.quantity += skewed(random, 5)
	}
	s.cents = s.product.cents
	if random.IntN(8) == 0 {
		s.cents = s.product.cents * 9 / 10 // a discount, rounded down to cents
	}
	return s
}

// skewed favours small numbers, so that some customers and products lead.
func skewed(random *rand.Rand, n int) int {
	f := random.Float64()
	return int(f * (0.4 + 0.6*f) * float64(n))
}
