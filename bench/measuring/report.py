"""Tables of figures, each beside what is wanted of it; as Markdown and as JSON."""


class Limit:
    def __init__(self, sense, bound, digits=None):
        self.sense, self.bound = sense, bound
        self.text = f"{sense} {number(bound, digits)}"

    def is_met(self, value):
        return value <= self.bound if self.sense == "<=" else value >= self.bound


def at_most(bound, digits=None):
    return Limit("<=", bound, digits)


def at_least(bound, digits=None):
    return Limit(">=", bound, digits)


def number(value, digits=None):
    if digits is None:
        return f"{value:,g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return f"{value:,.{digits}f}"


class Figure:
    """A measured value; None: could not be measured. `noise` is what chance alone may make of it, `spread` how far
    from it the true value may lie."""

    def __init__(self, value, digits=2, limit=None, noise=0, spread=0):
        self.value, self.digits, self.limit, self.noise, self.spread = value, digits, limit, noise or 0, spread

    @property
    def is_undecided(self):
        """Outside its limit, but so it would be by chance."""
        if self.limit is None or self.value is None or self.limit.is_met(self.value):
            return False
        return self.noise > self.limit.bound or any(
            self.limit.is_met(self.value + way * self.spread) for way in (-1, 1))

    @property
    def met(self):
        """None: nothing is wanted of it, or it cannot be said."""
        if self.limit is None or self.value is None or self.is_undecided:
            return None
        return bool(self.limit.is_met(self.value))

    def __str__(self):
        if self.value is None:
            return "-"
        text = number(self.value, self.digits)
        if self.limit is None:
            return text
        word = ": too few samples" if self.is_undecided else "" if self.met else ": miss"
        return f"{text} ({self.limit.text}{word})"

    def as_json(self):
        told = {"value": self.value}
        if self.limit is not None:
            told.update(wanted=self.limit.text, met=self.met)
        return told


class Row:
    """Column name -> text or Figure; `failed` says why there are no figures."""

    def __init__(self, cells, failed=""):
        self.cells, self.failed = cells, failed

    def figures(self):
        return [cell for cell in self.cells.values() if isinstance(cell, Figure)]

    @property
    def met(self):
        verdicts = [figure.met for figure in self.figures() if figure.met is not None]
        if self.failed or not all(verdicts):
            return False
        return True if verdicts and not self.is_undecided else None

    @property
    def is_undecided(self):
        return any(figure.is_undecided for figure in self.figures())

    def verdict(self):
        if self.failed:
            return f"failed: {self.failed}"
        return {True: "PASS", False: "miss", None: "undecided" if self.is_undecided else ""}[self.met]

    def as_json(self):
        cells = {name: cell.as_json() if isinstance(cell, Figure) else cell for name, cell in self.cells.items()}
        return {"cells": cells, "met": self.met, "failed": self.failed}


class Report:
    """One measure's table."""

    def __init__(self, title, how):
        self.title, self.how = title, how
        self.name, self.seconds = "", 0.0
        self.rows, self.notes = [], []

    def add(self, cells, failed=""):
        self.rows.append(Row(cells, failed))

    def note_impossible(self, where, found):
        if found:
            self.note(f"{where}: impossible: {found}")

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def columns(self):
        names = {}
        for row in self.rows:
            names.update(dict.fromkeys(row.cells))
        return list(names)

    def verdicts(self):
        return [row.met for row in self.rows if row.met is not None]

    def markdown(self):
        columns = self.columns()
        lines = [f"### {self.title}", "", self.how, ""]
        if self.rows:
            lines.append("| " + " | ".join([*columns, ""]) + " |")
            lines.append("|" + "---|" * (len(columns) + 1))
        for row in self.rows:
            cells = [escaped(row.cells.get(name, "")) for name in columns]
            lines.append("| " + " | ".join([*cells, escaped(row.verdict())]) + " |")
        lines += [""] + [f"- {note}" for note in self.notes] + ([""] if self.notes else [])
        return "\n".join(lines)

    def as_json(self):
        return {"name": self.name, "title": self.title, "how": self.how, "seconds": round(self.seconds, 1),
                "rows": [row.as_json() for row in self.rows], "notes": self.notes}


def escaped(cell):
    return str(cell).replace("|", "\\|").replace("\n", " ")


def summary(reports):
    verdicts = [verdict for report in reports for verdict in report.verdicts()]
    lines = ["### Summary", "", f"{sum(verdicts)} of {len(verdicts)} rows meet what is wanted of them.", ""]
    for report in reports:
        for row in report.rows:
            if row.met is False:
                lines.append(f"- {report.name}: " + missed(row))
    return "\n".join(lines) + "\n"


def missed(row):
    labels = ", ".join(str(cell) for cell in row.cells.values() if not isinstance(cell, Figure))
    what = row.failed or "; ".join(f"{name} {cell}" for name, cell in row.cells.items()
                                   if isinstance(cell, Figure) and cell.met is False)
    return f"{labels}: {what}"
