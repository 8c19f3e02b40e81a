"""The one error a user can cause, and the one a user can ask for."""

import re
from collections.abc import Mapping

from mousehole import _engine
from mousehole.base._plain_text import escape_controls

LONGEST = 1200
"""Characters of a sentence that are shown; what a longer one has between its ends is counted."""
LONGEST_VALUE = 300
"""Characters that are shown of a value without a space, such as a name or a number."""


class MouseholeError(ValueError):
    """A fault in the input, in one sentence.

    The sentence names the file and line or the field, the value, and the allowed values. `kind` is "value",
    "missing", "conflict", "unknown" or "form" for a fault of a field, which `field` names with its path
    (`link.rate`). It is "row" or "file" for a fault of a file, else None. `value` is the offending value as
    text and `allowed` what would be accepted, where they are known. What ends a line or steers a terminal is
    written out.
    """

    def __init__(
        self, sentence: str = "", *, kind: str | None = None, field: str | None = None,
        value: str | None = None, allowed: str | None = None, file: str | None = None,
        line: int | None = None,
    ) -> None:  # fmt: skip
        """Makes the message: the sentence, after the file with its line, or else the field.

        Control characters in it are escaped, and a long message is shortened.
        """
        self.sentence = sentence
        self.kind, self.field, self.value, self.allowed = kind, field, value, allowed
        self.file, self.line = file, line
        place = field if file is None else file if line is None else f"{file}:{line}"
        message = sentence if place is None else f"{place}: {sentence}"
        super().__init__(_shorten_message(escape_controls(message, lines=True)))

    def renamed(self, names: Mapping[str, str]) -> "MouseholeError":
        """Returns the error with its field, or the part of a path that its field begins with, renamed.

        `names` maps fields to new names. After the name of an option, the dot of a path becomes a space:
        `--param sessions`. Paths in `allowed` are renamed, too. Returns the error itself if no name fits; a
        new one has no file and line.
        """
        field = self.field or ""
        fits = [name for name in names if re.match(rf"{re.escape(name)}(?![\w-])", field)]
        if not fits:
            return self
        allowed = self.allowed and _rename_paths(self.allowed, names)
        sentence = self.sentence.replace(self.allowed, allowed) if self.allowed and allowed else self.sentence
        sentence = re.sub(
            r"(?<=cannot be combined with )[a-z_.]+\b", lambda one: names.get(one[0], one[0]), sentence
        )
        name = max(fits, key=len)
        rest = field[len(name) :]
        if names[name].startswith("--") and rest.startswith("."):
            rest = f" {rest[1:]}"
        return MouseholeError(
            sentence, kind=self.kind, field=names[name] + rest, value=self.value, allowed=allowed
        )

    def moved(self, field: str) -> "MouseholeError":
        """Returns a copy of the error about another field, without its file and line."""
        return MouseholeError(
            self.sentence, kind=self.kind, field=field, value=self.value, allowed=self.allowed
        )


def _rename_paths(text: str, names: Mapping[str, str]) -> str:
    """Returns a text in which every path of a field, such as `link.shape`, has its new name."""
    return re.sub(r"\b[a-z_]+\.[a-z_]+\b", lambda found: names.get(found[0], found[0]), text)


def file_error(file: object, sentence: str) -> MouseholeError:
    """Returns the error of a fault of a file, given by its path or name."""
    return MouseholeError(sentence, kind="file", file=str(file))


def _shorten_message(message: str) -> str:
    """Returns the message with notes in place of the middle of words and texts that are too long to read."""
    message = re.sub(rf"\S{{{LONGEST_VALUE + 1},}}", lambda found: _shorten(found[0], LONGEST_VALUE), message)
    return _shorten(message, LONGEST)


def _shorten(text: str, most: int) -> str:
    """Returns the text, cut in the middle to about `most` characters if it is longer.

    A note in the gap has the number of characters left out.
    """
    if len(text) <= most:
        return text
    begin, end = 2 * most // 3, most // 3
    return f"{text[:begin]}… ({len(text) - begin - end:,} characters left out) …{text[-end:]}"


def take_first_line(error: BaseException) -> str:
    """Returns the first line of an exception's message, or its type if it has none.

    At most 150 characters are returned, without a full stop at the end.
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:150].rstrip(".")


class Stopped(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C); the message says how much was finished."""


class Terminated(BaseException):
    """The process was asked to end (SIGTERM, SIGHUP).

    It is no `Exception`, so that nothing takes it for a failure.
    """


field_error = _engine.value_error
missing_error = _engine.missing_error
conflict_error = _engine.conflict_error
unknown_error = _engine.unknown_error
