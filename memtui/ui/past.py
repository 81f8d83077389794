"""Messages as small dataclasses: nothing is made for them but the constructor, which is what starting pays for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def past(message: type[T]) -> type[T]:
    """Class decorator for a message: its fields become the constructor's parameters."""
    return dataclass(eq=False, repr=False, match_args=False)(message)
