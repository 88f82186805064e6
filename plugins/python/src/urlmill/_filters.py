"""Conditions on columns, which all have to hold: ``[["host", "=", "a.example"], ["id", ">", 5]]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ._library import Error

_OPERATORS: dict[str, Callable[[pc.Expression, Any], pc.Expression]] = {
    "=": lambda a, v: a.is_null() if v is None else a == v,
    "!=": lambda a, v: a.is_valid() if v is None else a != v,
    "<": lambda a, v: a < v,
    "<=": lambda a, v: a <= v,
    ">": lambda a, v: a > v,
    ">=": lambda a, v: a >= v,
    "in": lambda a, v: a.is_valid() & a.isin(v),
    "not in": lambda a, v: a.is_valid() & ~a.isin(v),
    "starts with": pc.starts_with,
    "ends with": pc.ends_with,
    "contains": pc.match_substring,
}

Condition = tuple[str, str, Any]


def conditions(given: Iterable[Any]) -> list[Condition]:
    """Checks what was read from JSON."""
    found: list[Condition] = []
    for c in given:
        if not isinstance(c, list) or len(c) != 3 or not isinstance(c[0], str):
            raise Error(f'a filter is a list as ["host", "=", "a.example"], and {c!r} is not')
        name, operator, value = c
        if operator not in _OPERATORS:
            raise Error(f"a filter of {name!r} has the operator {operator!r}; there are {', '.join(_OPERATORS)}")
        if isinstance(value, list) != (operator in ("in", "not in")) or (value is None and operator not in ("=", "!=")):
            raise Error(f"a filter of {name!r} compares with {value!r} by {operator!r}: in and not in take a list, = and != take null")
        found.append((name, operator, value))
    return found


def expression(of: Iterable[Condition], schema: pa.Schema) -> pc.Expression | None:
    """Returns what keeps the rows for which all hold, None for all rows. As in SQL, a null is neither equal to nor unlike a value."""

    def one(name: str, operator: str, value: Any) -> pc.Expression:
        if name not in schema.names:
            raise Error(f"a filter has a column {name!r}, and there is none; there are {', '.join(schema.names)}")
        typed = schema.field(name).type
        if pa.types.is_dictionary(typed):
            typed = typed.value_type
        if value is None or operator in ("starts with", "ends with", "contains"):
            given = value
        else:
            given = _value(name, value, typed)
        return _OPERATORS[operator](pc.field(name), given)

    all_of = [one(*c) for c in of]
    return reduce(lambda a, b: a & b, all_of) if all_of else None


def _value(name: str, value: Any, typed: pa.DataType) -> Any:
    """The value in the type of the column; texts become dates and times."""
    try:
        if isinstance(value, list):
            return pa.array(value).cast(typed)
        return pa.scalar(value).cast(typed)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as e:
        raise Error(f"a filter of {name!r}, which is {typed}, compares with {value!r}: {e}") from None
