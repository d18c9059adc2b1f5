package discovery

// maxSignature bounds one declaration, in bytes: about 4,000 tokens of a model.
// The largest of the real tools we know of takes all of it.
const maxSignature = 16 << 10

// Signature declares one tool in TypeScript, as an overload of the function that
// scripts call it by:
//
//	declare function callMCPTool(name: "database__query", args: { query: string }): Promise<any>;
//
// The name is a string, so that tools need no name that JavaScript allows. The
// schemas are JSON text that was tokenized already; an empty or unreadable one
// leaves its side open. Types follow the schema as far as TypeScript can say it:
// bounds, patterns and conditions are left to validation. Descriptions, defaults
// and formats become comments. The result is always one valid declaration of at
// most 16 KiB plus the name: what does not fit loses first its comments, then its
// depth.
func Signature(fullName string, inputSchema, outputSchema []byte) string {
	return signature(fullName, inputSchema, outputSchema, "")
}

// ObservedSignature is Signature for a tool without an output schema whose results
// have been seen: observed is what Shape.TypeScript says of them, or empty.
func ObservedSignature(fullName string, inputSchema []byte, observed string) string {
	return signature(fullName, inputSchema, nil, observed)
}

// seenOnly marks a type that nobody promised.
const seenOnly = "/* as results looked so far */ "

func signature(fullName string, inputSchema, outputSchema []byte, observed string) string {
	in, hasIn := readSchema(inputSchema)
	out, hasOut := readSchema(outputSchema)
	text := ""
	for _, detail := range details {
		args, result := "args?: Record<string, unknown>", "any"
		if hasIn {
			args = arguments(newRenderer(in, detail))
		}
		if hasOut {
			result = newRenderer(out, detail).render(out, place{}).text
		} else if observed != "" {
			result = seenOnly + observed
		}
		text = "declare function callMCPTool(name: " + quote(fullName) + ", " + args + "): Promise<" + result + ">;"
		if len(text)-len(fullName) <= maxSignature {
			return text
		}
	}
	return text // the last detail bounds it by itself
}

// detail is how much a signature tells.
type detail struct {
	comments bool
	depth    int // of nested types
	types    int // rendered at all
}

// details are tried until the signature is short enough. The last one says only
// that there are arguments and a result.
var details = []detail{
	{comments: true, depth: 10, types: 2000},
	{comments: false, depth: 10, types: 2000},
	{comments: false, depth: 5, types: 1000},
	{comments: false, depth: 3, types: 200},
	{comments: false, depth: 2, types: 50},
	{comments: false, depth: 0, types: 0},
}

// arguments renders the parameter of the call. It may be left out when the
// schema requires nothing.
func arguments(r *renderer) string {
	colon := ": "
	if len(elements(member(r.root, "required"))) == 0 {
		colon = "?: "
	}
	args := r.render(r.root, place{})
	if args.text == "unknown" {
		args.text = "Record<string, unknown>"
	}
	return "args" + colon + args.text
}
