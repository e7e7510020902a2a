"""What a value looks like beyond text: charts of figures, columns of data frames, JSON of lists and dictionaries."""

import datetime
import enum
import json
import math

from IPython.core.formatters import BaseFormatter
from traitlets import ObjectName, Unicode


class NotPlain(Exception):
    """The value has no JSON form."""


def plain(value, fallback=None):
    """The JSON form of a value: what is no number becomes None. `fallback` gives a form to values that have none."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, fallback)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name if isinstance(name, str) else str(name): plain(item, fallback) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, fallback) for item in value]
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        simple = value.tolist()
        if type(simple) is not type(value):
            return plain(simple, fallback)
    if isinstance(value, (datetime.date, datetime.time)):
        # A missing date is one, too; its form is "NaT".
        return value.isoformat()
    if fallback is None:
        raise NotPlain(type(value).__name__)
    return fallback(value)


def json_of(value):
    try:
        form = plain(value)
        json.dumps(form)
    except (NotPlain, RecursionError, ValueError):
        return None
    return form


def chart_of(figure):
    # Extraction knows the common kinds; of others there is still the picture.
    try:
        from e2b_charts import chart_figure_to_dict

        return plain(chart_figure_to_dict(figure), str)
    except Exception:
        return {}


def text_of(cell):
    if type(cell).__name__ == "NAType":
        return None
    return str(cell)


def data_of(frame):
    columns = {}
    for position, name in enumerate(frame.columns):
        values = frame.iloc[:, position].tolist()
        columns[str(name)] = [plain(value, text_of) for value in values]
    return columns


class ChartFormatter(BaseFormatter):
    format_type = Unicode("e2b/chart")
    print_method = ObjectName("_repr_e2b_chart_")
    _return_type = dict

    def __call__(self, value):
        # matplotlib's own set-up takes every formatter of its figures out, so that one by type would be lost.
        if any((kind.__module__, kind.__name__) == ("matplotlib.figure", "Figure") for kind in type(value).__mro__):
            return chart_of(value)
        return super().__call__(value)


class DataFormatter(BaseFormatter):
    format_type = Unicode("e2b/data")
    print_method = ObjectName("_repr_e2b_data_")
    _return_type = dict


formatters = shell.display_formatter.formatters
chart, data = ChartFormatter(parent=shell.display_formatter), DataFormatter(parent=shell.display_formatter)
data.for_type_by_name("pandas", "DataFrame", data_of)
data.for_type_by_name("pandas.core.frame", "DataFrame", data_of)
formatters[chart.format_type], formatters[data.format_type] = chart, data
for kind in (list, dict):
    formatters["application/json"].for_type(kind, json_of)
