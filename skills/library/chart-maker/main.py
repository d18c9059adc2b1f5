"""Draws a chart of a CSV file or of rows; see SKILL.md."""

import os
import re

import matplotlib.pyplot as plt
import pandas as pd

KINDS = ("bar", "line", "pie", "scatter", "histogram")
MOST_BARS = 30


def run(input):
    input = input or {}
    table, source = read(input)
    kind = input.get("kind") or guess(table)
    if kind not in KINDS:
        raise ValueError("kind must be one of " + ", ".join(KINDS))
    x, y = columns(table, kind, input)
    table = table.dropna(subset=[c for c in (x, y) if c])
    points = table if kind in ("scatter", "histogram", "line") else table.groupby(x, sort=False)[y].sum().reset_index()
    if kind in ("bar", "pie"):
        points = points.sort_values(y, ascending=False).head(MOST_BARS)
    title = input.get("title") or (f"{y} by {x}" if x else f"Distribution of {y}")
    file = f"{os.path.splitext(source)[0]}-{kind}.png"
    draw(kind, points, x, y, title, "/artifacts/" + file)
    return {"report": f"# {title}\n\nA {kind} chart of {len(points)} points from {source}.\n\nSaved as {file}.\n",
            "kind": kind, "x": x, "y": y, "points": int(len(points)), "artifacts": [file]}


def read(input):
    if input.get("rows"):
        return pd.DataFrame(input["rows"]), "chart"
    file = input.get("file")
    if not file:
        found = sorted(f for f in os.listdir("/workspace") if re.search(r"\.(csv|tsv)$", f, re.I))
        if len(found) != 1:
            raise ValueError("There is no CSV file in /workspace; upload one with the task." if not found
                             else "Name one of the files in /workspace: " + ", ".join(found[:10]))
        file = found[0]
    path = file if file.startswith("/") else "/workspace/" + file
    if not os.path.exists(path):
        raise ValueError("There is no such file in /workspace; upload it with the task.")
    table = pd.read_csv(path, sep=None, engine="python")
    for name in table.columns:
        if table[name].dtype == object and table[name].astype(str).str.match(r"\d{4}-\d{2}-\d{2}").all():
            table[name] = pd.to_datetime(table[name])
    return table, os.path.basename(path)


def numeric(table):
    return [c for c in table.columns if pd.api.types.is_numeric_dtype(table[c])]


def guess(table):
    return "line" if any(pd.api.types.is_datetime64_any_dtype(table[c]) for c in table.columns) else "bar"


def columns(table, kind, input):
    """The columns to draw: those that the task names, or else the first that fit."""
    named = {str(n).lower() for n in input.get("names") or []} | set(re.findall(r"\w+", input.get("task", "").lower()))
    numbers = numeric(table)
    if not numbers:
        raise ValueError("The file has no column of numbers to draw.")
    wanted = [c for c in table.columns if str(c).lower() in named]
    y = next((c for c in wanted if c in numbers), numbers[-1])
    if kind == "histogram":
        return None, y
    fits = [c for c in table.columns if c != y and (kind != "scatter" or c in numbers)]
    if not fits:
        raise ValueError("The file has no second column to draw that one against.")
    return next((c for c in wanted if c in fits), fits[0]), y


def draw(kind, points, x, y, title, path):
    figure, axes = plt.subplots(figsize=(9, 5))
    if kind == "histogram":
        axes.hist(points[y], bins="auto", color="#2266aa")
    elif kind == "pie":
        axes.pie(points[y], labels=points[x].astype(str), autopct="%1.0f%%")
    elif kind == "scatter":
        axes.scatter(points[x], points[y], s=18, color="#2266aa")
    elif kind == "line":
        ordered = points.sort_values(x)
        axes.plot(ordered[x], ordered[y], color="#2266aa")
    else:
        axes.bar(points[x].astype(str), points[y], color="#2266aa")
    axes.set_title(title)
    if kind != "pie":
        axes.set_xlabel(str(x or y))
        axes.set_ylabel("count" if kind == "histogram" else str(y))
        axes.tick_params(axis="x", rotation=45)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
