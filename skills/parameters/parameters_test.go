package parameters

import (
	"reflect"
	"testing"
	"time"
)

// thursday is the day that the tests' relative periods count from.
var thursday = time.Date(2024, time.May, 16, 13, 30, 0, 0, time.UTC)

func TestToldReadsWhatTheTaskTells(t *testing.T) {
	t.Parallel()
	type in = map[string]any
	between := func(period, from, to string) in { return in{"period": period, "from": from, "to": to} }
	yearOf := func(period string, y int, from, to string) in {
		return in{"period": period, "from": from, "to": to, "year": y}
	}
	for task, want := range map[string]in{
		"": {},
		"Analyze the latest sales data and create a summary report": {},

		"sales from 2024-01-15 to 2024-02-03":     between("2024-01-15 to 2024-02-03", "2024-01-15", "2024-02-03"),
		"sales between 2024-02-03 and 2024-01-15": between("2024-02-03 and 2024-01-15", "2024-01-15", "2024-02-03"),
		"orders on 2024-02-29":                    between("2024-02-29", "2024-02-29", "2024-02-29"),
		"orders since 2024-02-29":                 {"period": "since 2024-02-29", "from": "2024-02-29"},
		"orders before 2024-03-01":                {"period": "before 2024-03-01", "to": "2024-02-29"},
		"orders until 2024-03-01":                 {"period": "until 2024-03-01", "to": "2024-03-01"},
		"orders on 2024-13-45":                    {},

		"Revenue in Q1 2024":                   between("Q1 2024", "2024-01-01", "2024-03-31"),
		"Revenue in 2023-Q4":                   between("2023-Q4", "2023-10-01", "2023-12-31"),
		"revenue of the third quarter of 2023": between("third quarter of 2023", "2023-07-01", "2023-09-30"),
		"revenue in q2":                        between("q2", "2024-04-01", "2024-06-30"),
		"revenue in Q3":                        between("Q3", "2023-07-01", "2023-09-30"),

		"sales in January 2024":       between("January 2024", "2024-01-01", "2024-01-31"),
		"sales of Feb 2023":           between("Feb 2023", "2023-02-01", "2023-02-28"),
		"sales January to March 2024": between("January to March 2024", "2024-01-01", "2024-03-31"),
		"sales Nov - Feb 2024":        between("Nov - Feb 2024", "2023-11-01", "2024-02-29"),
		"sales in 2024-02":            between("2024-02", "2024-02-01", "2024-02-29"),
		"sales in June":               between("in June", "2023-06-01", "2023-06-30"),
		"this may take a while":       {},

		"trend of last month": between("last month", "2024-04-01", "2024-04-30"),
		"trend of this month": between("this month", "2024-05-01", "2024-05-31"),
		"previous quarter":    between("previous quarter", "2024-01-01", "2024-03-31"),
		"last week's orders":  between("last week", "2024-05-06", "2024-05-12"),
		"orders of yesterday": between("yesterday", "2024-05-15", "2024-05-15"),
		"the last 30 days":    between("last 30 days", "2024-04-17", "2024-05-16"),
		"past three months":   between("past three months", "2024-02-17", "2024-05-16"),
		"last year":           yearOf("last year", 2023, "2023-01-01", "2023-12-31"),
		"year to date":        between("year to date", "2024-01-01", "2024-05-16"),

		"sales in 2023":             yearOf("2023", 2023, "2023-01-01", "2023-12-31"),
		"sales 2022-2023":           between("2022-2023", "2022-01-01", "2023-12-31"),
		"sales since 2022":          {"period": "since 2022", "from": "2022-01-01"},
		"orders over 2000":          {},
		"orders over $2000 in 2024": yearOf("2024", 2024, "2024-01-01", "2024-12-31"),
		"price 1999.50":             {},
		"order 120240":              {},

		"top 5 customers":                 {"limit": 5},
		"Who are the top five customers?": {"limit": 5},
		"the 10 largest orders":           {"limit": 10},
		"limit it to 20":                  {"limit": 20},
		"top 2000 customers":              {"limit": 2000},
		"first 3 months":                  {},
		"top 0 customers":                 {},
		"best 3 products of Q1 2024":      {"limit": 3, "period": "Q1 2024", "from": "2024-01-01", "to": "2024-03-31"},

		`orders of "Blue Mug" and 'Red Mug'`:      {"names": []string{"Blue Mug", "Red Mug"}},
		"orders of “Blue Mug 2023”":               {"names": []string{"Blue Mug 2023"}},
		"the customer's orders aren't the users'": {},

		"sales by region":               {"by": "region"},
		"sales per Category last month": {"by": "category", "period": "last month", "from": "2024-04-01", "to": "2024-04-30"},
		"monthly trend":                 {"by": "month"},
		"monthly trend by region":       {"by": "month"},
		"annually by city":              {"by": "year"},
		"daily sales":                   {"by": "day"},
		"annual report":                 {"by": "year"},

		"what did [EMAIL_1_k7q2f] and [PHONE_2024_k7q2f] buy?": {},
	} {
		if got := Told(task, thursday); !reflect.DeepEqual(got, want) {
			t.Errorf("%q\n got %v\nwant %v", task, got, want)
		}
	}
}

func FuzzTold(f *testing.F) {
	f.Add("top 5 of Q1 2024 by region \"x\"")
	f.Add("between 9999-12-31 and 0000-00-00")
	f.Add("last 9999 years, may to 1900")
	f.Fuzz(func(t *testing.T, task string) {
		input := Told(task, thursday)
		from, hasFrom := input["from"].(string)
		to, hasTo := input["to"].(string)
		if hasFrom && hasTo && len(from) == len(to) && from > to {
			t.Errorf("%q: from %s is after to %s", task, from, to)
		}
		if limit, ok := input["limit"].(int); ok && limit < 1 {
			t.Errorf("%q: limit %d", task, limit)
		}
	})
}
