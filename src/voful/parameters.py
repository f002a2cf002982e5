"""Constructor arguments declared once: type, default, check and meaning.

A class that derives from `Declared` lists its arguments in its body::

    class Ball(Declared):
        dim: int = parameter(positive_int, "Dimension d.", kw_only=False)
        radius: float = parameter(positive_float, "R.", default=1.0)

Constructor, error messages, `repr`, save and load, and the docstring's section on parameters follow
from that.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform

from voful.persistence import Persistent

_REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One argument; see `parameter`."""

    check: Callable[[str, Any], Any]
    meaning: str
    default: Any
    kw_only: bool
    derived: Callable[[Any], Any] | None

    def value(self, name: str, given: Any, owner: Any) -> Any:
        """What becomes the attribute."""
        if given is None and self.derived is not None:
            given = self.derived(owner)
        elif given is None and self.default is None:
            return None
        return self.check(name, given)


def parameter(
    check: Callable[[str, Any], Any],
    meaning: str,
    *,
    default: Any = _REQUIRED,
    kw_only: bool = True,
    derived: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare an argument.

    Parameters
    ----------
    check
        (name, value) -> the value that is kept, or an error that names the argument.
    meaning
        For the docstring.
    default
        Left out: the argument is required. None needs no check.
    kw_only
        Whether it must be passed by name.
    derived
        What None stands for, from the arguments declared before: (object) -> value.
    """
    return Parameter(check, meaning, default, kw_only, derived)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter,))
class Declared(Persistent, ABC):
    """A Persistent whose constructor follows from the parameters in its body.

    A subclass checks what concerns several arguments, and makes everything else, in ``_build``. It
    may declare an inherited argument anew, which then takes its new place, or set it to a plain
    value: then it is no argument of the subclass.
    """

    _parameters: ClassVar[dict[str, Parameter]] = {}
    __signature__: ClassVar[inspect.Signature | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Parameter)}
        kept = {name: value for name, value in cls._parameters.items() if name not in vars(cls)}
        cls._parameters = {**kept, **own}
        if cls.__init__ is not Declared.__init__:
            cls.__signature__ = None  # the constructor speaks for itself
            return
        _refuse_plain_defaults(cls)
        cls.__signature__ = _signature(cls)
        doc = vars(cls).get("__doc__")
        if doc and cls._parameters:
            cls.__doc__ = _with_parameters(doc, cls._parameters)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            bound = (self.__signature__ or _signature(type(self))).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}() {error}") from None
        bound.apply_defaults()
        for name, declared in self._parameters.items():
            setattr(self, name, declared.value(name, bound.arguments[name], self))
        self._build()

    def _build(self) -> None:
        """Make what the checked arguments describe."""


def _refuse_plain_defaults(cls: type[Declared]) -> None:
    """A type checker takes ``radius: float = 1.0`` for an argument, which it would not be."""
    own = vars(cls)
    for name, kind in own.get("__annotations__", {}).items():
        is_plain = name in own and not isinstance(own[name], Parameter)
        inherited = any(name in vars(base).get("_parameters", {}) for base in cls.__mro__[1:])
        if is_plain and not (inherited or name.startswith("_") or "ClassVar" in str(kind)):
            raise TypeError(
                f"{cls.__name__}.{name}: got {own[name]!r}; expected parameter(check, meaning, "
                f"default={own[name]!r}) for an argument, or {name}: ClassVar for an attribute"
            )


def _signature(cls: type[Declared]) -> inspect.Signature:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = [
        inspect.Parameter(name, kinds[p.kw_only], default=p.default, annotation=_type(cls, name))
        for name, p in cls._parameters.items()
    ]
    return inspect.Signature(sorted(found, key=lambda parameter: parameter.kind))


def _type(cls: type, name: str) -> Any:
    homes = (vars(base).get("__annotations__", {}) for base in cls.__mro__)
    return next((types[name] for types in homes if name in types), _REQUIRED)


_LATER_SECTIONS = re.compile(r"^(Notes|References|Examples)\n-+$", re.MULTILINE)


def _with_parameters(doc: str, parameters: dict[str, Parameter]) -> str:
    """The docstring with a section on parameters, before those that come later."""
    text = inspect.cleandoc(doc)
    lines = [f"{name}\n    {declared.meaning}" for name, declared in parameters.items()]
    section = "\n".join(["Parameters\n----------", *lines])
    later = _LATER_SECTIONS.search(text)
    place = later.start() if later else len(text)
    return "\n\n".join(filter(None, [text[:place].rstrip(), section, text[place:]]))
