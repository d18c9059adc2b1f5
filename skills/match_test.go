package skills

import (
	"testing"
)

// worded are tasks as people write them, with the skill that must be found. The
// empty name means that no skill may be run; "?" in front of a name, that the skill
// fits in part only and may be named but not run.
var worded = []struct{ task, want string }{
	{"Analyze the latest sales data and create a summary report", "sales-summary"},
	{"Give me a sales summary", "sales-summary"},
	{"Summarize our sales please", "sales-summary"},
	{"sales report for last month", "sales-summary"},
	{"Create a sales report for March 2024", "sales-summary"},
	{"How did we sell last month?", "sales-summary"},
	{"what's our total revenue?", "sales-summary"},
	{"I need an overview of sales by region", "sales-summary"},
	{"Show revenue by category for Q1 2024", "sales-summary"},
	{"what are our best-selling products", "sales-summary"},
	{"top 5 products by revenue", "sales-summary"},
	{"Please analyze sales performance from 2024-01-01 to 2024-06-30", "sales-summary"},
	{"run sales-summary", "sales-summary"},
	{"sales_summary", "sales-summary"},

	{`sales summary for "Camping"`, "sales-summary"},
	{"How much revenue did we make in 2023?", "sales-summary"},
	{"What did we sell in June 2024?", "sales-summary"},
	{"Which were the 3 best selling products in December 2024?", "sales-summary"},

	{"who are our best customers", "top-customers"},
	{"Who are the customers with the highest spending?", "top-customers"},
	{"Who are our top 10 customers?", "top-customers"},
	{"list the 5 biggest clients", "top-customers"},
	{"which customers spent the most in 2023", "top-customers"},
	{"which customers buy the most?", "top-customers"},
	{"rank customers by revenue", "top-customers"},
	{"Show me our most valuable customers of last year", "top-customers"},
	{"Who bought the most last quarter?", "top-customers"},
	{"top spenders since January 2024", "top-customers"},

	{"how did revenue develop month by month", "monthly-trend"},
	{"show the monthly trend of sales", "monthly-trend"},
	{"Monthly revenue as CSV", "monthly-trend"},
	{"Export monthly sales to a CSV file", "monthly-trend"},
	{"How have sales developed over time?", "monthly-trend"},
	{"revenue growth by quarter", "monthly-trend"},
	{"What was our best month?", "monthly-trend"},
	{"is there seasonality in our sales", "monthly-trend"},
	{"show the revenue trend over the last 12 months", "monthly-trend"},
	{"sales per month in 2024", "monthly-trend"},

	{"check the data for errors", "data-quality-check"},
	{"are there duplicates in the customer table?", "data-quality-check"},
	{"Find missing values in the database", "data-quality-check"},
	{"check the data for duplicates", "data-quality-check"},
	{"Is our data clean?", "data-quality-check"},
	{"run a data quality check", "data-quality-check"},
	{"Validate the database and report inconsistencies", "data-quality-check"},
	{"which customers are registered twice", "data-quality-check"},
	{"Which records are incomplete?", "data-quality-check"},
	{"any invalid e-mail addresses?", "data-quality-check"},

	{"what is the weather in Paris", ""},
	{"tell me a joke", ""},
	{"Write a poem about autumn", ""},
	{"translate this text into French", ""},
	{"What is 2 + 2?", ""},
	{"hello", ""},
	{"", ""},
	{"Create a summary report", ""},
	{"summarize this article about climate change", ""},
	{"Book a flight to Berlin for next month", ""},
	{"deploy the new version to production", ""},
	{"compute the derivative of x^2", "symbolic-computation"},
	{"Who won the world cup in 2014?", ""},
	{"list the files in /workspace", ""},
	{"find bugs in my code", ""},
	{"Save a hello world function to skills", ""},
	{"how many employees do we have", ""},

	{"send an email to our best customers", "?top-customers"},
	{"don't summarize sales", "?sales-summary"},
	{"sales report without Europe", "?sales-summary"},
	{"predict revenue for next quarter", "?monthly-trend"},
	{"email me the monthly trend", "?monthly-trend"},
	{"What is the revenue of Apple?", "?sales-summary"},
	{"sales tax rates by region", "?sales-summary"},
	{"Explain what a data quality check is", "?data-quality-check"},
	{"delete duplicate customers", "?data-quality-check"},
	{"fix the errors in the data", "?data-quality-check"},
	{"forecast sales for next year by month", "?monthly-trend"},
	{"what is the weather where our best customers live", "?top-customers"},
	{"plot the revenue trend as a pie chart with a logo", "?monthly-trend"},
	{"who are our best customers in Paris", "?top-customers"},
	{"write a song about our top customers", "?top-customers"},
	{"How much did [EMAIL_1_k7q2f] buy, and is she one of our best customers?", "?top-customers"},
}

func TestMatchFindsTheSkillThatIsMeant(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	for _, tc := range worded {
		t.Run(tc.task, func(t *testing.T) {
			t.Parallel()
			found, err := s.Search("user", tokenized(t, tc.task), nil)
			if err != nil {
				t.Fatal(err)
			}
			best, confidence := "", 0.0
			if len(found) > 0 {
				best, confidence = found[0].ID, found[0].Confidence
			}
			second := 0.0
			if len(found) > 1 {
				second = found[1].Confidence
			}
			switch {
			case tc.want == "":
				if confidence >= Confident-0.1 {
					t.Errorf("%s has %.2f, none may be run", best, confidence)
				}
			case tc.want[0] == '?':
				if confidence >= Confident-0.1 {
					t.Errorf("%s has %.2f, it may not be run", best, confidence)
				}
			case best != "library/"+tc.want || confidence < Confident || confidence-second < 0.05:
				t.Errorf("best is %s with %.2f, the next has %.2f, want %s", best, confidence, second, tc.want)
			}
		})
	}
}
