"""Makes an Excel workbook of a CSV file or of rows; see SKILL.md."""

import csv
import os
import re

from openpyxl import Workbook
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter

MOST_ROWS = 100_000


def run(input):
    input = input or {}
    head, rows, source = read(input)
    book = Workbook()
    sheet = book.active
    sheet.title = "Data"
    sheet.append(head)
    for row in rows:
        sheet.append(row)
    numbers = [i for i in range(len(head)) if rows and all(isinstance(r[i], (int, float)) or r[i] is None for r in rows) and any(r[i] is not None for r in rows)]
    total(sheet, numbers, len(rows))
    style(sheet, head, rows)
    group = group_column(head, rows, numbers, input)
    if group is not None and numbers:
        summary(book, head, rows, group, numbers)
    file = os.path.splitext(source)[0] + ".xlsx"
    book.save("/artifacts/" + file)
    grouped = head[group] if group is not None and numbers else None
    told = f", with totals by {grouped}" if grouped else ""
    return {"report": f"# {file}\n\n{len(rows)} rows and {len(head)} columns of {source}{told}.\n\nSaved as {file}.\n",
            "rows": len(rows), "columns": len(head), "groupedBy": grouped, "artifacts": [file]}


def read(input):
    if input.get("rows"):
        rows = input["rows"]
        head = list(rows[0])
        return head, [[r.get(h) for h in head] for r in rows], "report"
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
    with open(path, newline="", encoding="utf-8-sig") as f:
        start = f.read(4096)
        f.seek(0)
        lines = list(csv.reader(f, delimiter=max(",;\t|", key=start.split("\n", 1)[0].count)))
    if not lines or len(lines) > MOST_ROWS:
        raise ValueError(f"The file is empty, or has more than {MOST_ROWS} rows.")
    head = lines[0]
    return head, [[value(v) for v in (r + [""] * len(head))[:len(head)]] for r in lines[1:]], os.path.basename(path)


def value(text):
    """A number where the text is one. Texts that Excel would take for a formula stay texts."""
    text = text.strip()
    if text == "":
        return None
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return "'" + text if text[0] in "=+-@" else text


def total(sheet, numbers, count):
    if not numbers or not count:
        return
    row = count + 2
    for i in numbers:
        letter = get_column_letter(i + 1)
        cell = sheet.cell(row=row, column=i + 1, value=f"=SUM({letter}2:{letter}{count + 1})")
        cell.font = Font(bold=True)
    if 0 not in numbers:
        sheet.cell(row=row, column=1, value="Total").font = Font(bold=True)


def style(sheet, head, rows):
    for i, name in enumerate(head):
        cell = sheet.cell(row=1, column=i + 1)
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDE6F0")
        widest = max([len(str(name))] + [len(str(r[i])) for r in rows[:200] if r[i] is not None])
        sheet.column_dimensions[get_column_letter(i + 1)].width = min(widest + 2, 50)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(head))}{len(rows) + 1}"


def group_column(head, rows, numbers, input):
    """The column to add up by: one that the task names, or else a text with few values."""
    named = {str(n).lower() for n in input.get("names") or []} | set(re.findall(r"\w+", input.get("task", "").lower()))
    texts = [i for i in range(len(head)) if i not in numbers]
    for i in texts:
        if str(head[i]).lower() in named:
            return i
    few = [i for i in texts if 1 < len({r[i] for r in rows}) <= max(2, min(20, len(rows) // 2))]
    return few[0] if few else None


def summary(book, head, rows, group, numbers):
    sheet = book.create_sheet("Summary")
    sheet.append([head[group], "Rows"] + [head[i] for i in numbers])
    sums = {}
    for r in rows:
        entry = sums.setdefault(r[group], [0] + [0] * len(numbers))
        entry[0] += 1
        for at, i in enumerate(numbers):
            entry[at + 1] += r[i] or 0
    for name, entry in sorted(sums.items(), key=lambda item: str(item[0])):
        sheet.append([name if name is not None else "(none)"] + entry)
    style(sheet, [c.value for c in sheet[1]], [[c.value for c in r] for r in sheet.iter_rows(min_row=2)])
