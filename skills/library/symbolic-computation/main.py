"""Works out derivatives, integrals, equations and other algebra; see SKILL.md."""

import re

import sympy
from sympy.parsing.sympy_parser import convert_xor, implicit_multiplication_application, parse_expr, standard_transformations

RULES = standard_transformations + (convert_xor, implicit_multiplication_application)
# The first whose words stand in the task is meant; solving is for equations too.
OPERATIONS = [
    ("differentiate", r"\bderiv|\bdifferentia"), ("integrate", r"\bintegra|\bantideriv"), ("limit", r"\blimit"),
    ("factor", r"\bfactor"), ("expand", r"\bexpand|\bmultiply out"), ("series", r"\bseries|\btaylor"),
    ("solve", r"\bsolv|\broots?\b|\bzeros?\b|\bequation"), ("simplify", r"\bsimplif|\breduce"),
]
NAMES = {"e": sympy.E, "pi": sympy.pi, "ln": sympy.log, "inf": sympy.oo, "infinity": sympy.oo}


def run(input):
    input = input or {}
    task = input.get("task", "")
    text = input.get("expression")
    if not text:
        raise ValueError('Write the expression in quotes, such as "x^2 + 3*x".')
    parts = [p.strip() for p in re.split(r"[;\n]|,(?![^(]*\))", text) if p.strip()]
    operation = input.get("operation") or next((o for o, words in OPERATIONS if re.search(words, task, re.I)), None)
    operation = operation or ("solve" if "=" in text else "simplify")
    expressions = [equation(p) for p in parts]
    variable = variable_of(expressions, input.get("variable") or told_variable(task))
    answer = work(operation, expressions, variable, task)
    shown = "; ".join(parts)
    return {"report": f"# {operation.capitalize()}: {shown}\n\n`{answer}`\n", "operation": operation,
            "variable": str(variable), "result": str(answer), "latex": sympy.latex(answer)}


def equation(text):
    left, sign, right = text.partition("=")
    value = parse(left)
    return sympy.Eq(value, parse(right)) if sign else value


def parse(text):
    if len(text) > 500 or "__" in text or re.search(r"[A-Za-z_]\w*\s*\.", text):
        raise ValueError("The expression may hold up to 500 characters of numbers, names and operators.")
    try:
        return parse_expr(text.strip(), local_dict=dict(NAMES), transformations=RULES)
    except (SyntaxError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"The expression cannot be read: {type(error).__name__}") from None


def told_variable(task):
    found = re.search(r"(?:with respect to|\bfor|\bin terms of)\s+([a-z])\b", task, re.I)
    return found.group(1) if found else None


def variable_of(expressions, name):
    free = sorted(set().union(*(e.free_symbols for e in expressions)), key=str)
    if name:
        return sympy.Symbol(name)
    return next((s for s in free if str(s) == "x"), free[0] if free else sympy.Symbol("x"))


def work(operation, expressions, variable, task):
    if operation == "solve":
        free = sorted(set().union(*(e.free_symbols for e in expressions)), key=str)
        if len(expressions) == 1:
            return sympy.solve(expressions[0], variable)
        return sympy.solve(expressions, free, dict=True)
    one = expressions[0]
    if isinstance(one, sympy.Equality):
        one = one.lhs - one.rhs
    if operation == "differentiate":
        order = 3 if re.search(r"\bthird", task) else 2 if re.search(r"\bsecond", task) else 1
        return sympy.diff(one, variable, order)
    if operation == "integrate":
        bounds = re.search(r"from\s+(\S+)\s+to\s+(\S+?)[.?]?(?:\s|$)", task)
        return sympy.integrate(one, (variable, parse(bounds.group(1)), parse(bounds.group(2))) if bounds else variable)
    if operation == "limit":
        to = re.search(r"(?:approaches|goes to|tends to|->|→)\s*(-?\w+)", task)
        return sympy.limit(one, variable, parse(to.group(1)) if to else 0)
    if operation == "series":
        return sympy.series(one, variable, 0, 6)
    return {"factor": sympy.factor, "expand": sympy.expand, "simplify": sympy.simplify}[operation](one)
