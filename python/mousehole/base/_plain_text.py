"""Text on outputs that cannot take every character, such as those of the POSIX locale."""

import codecs
import re
import sys
import unicodedata
from io import TextIOWrapper
from typing import TextIO

HANDLER = "mousehole-plain"

REPLACEMENTS = {
    "–": "-", "—": "-", "−": "-", "≤": "<=", "≥": ">=", "≈": "~", "±": "+/-", "×": "x", "·": "*", "÷": "/",
    "→": "->", "←": "<-", "…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "°": " deg", "µ": "u", "μ": "u",
    "∞": "inf", "√": "sqrt", "∝": "~", "∈": "in", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")",
    "•": "*", "■": "#", "█": "#", "▇": "#", "▓": "#", "▒": "+", "░": ".", "│": "|", "─": "-", "━": "-",
    "╸": "-", "╺": "-", "α": "alpha", "β": "beta", "γ": "gamma", "λ": "lambda", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "≫": ">>", "∛": "cbrt", "∫": "integral ", "₋": "-", "⁻": "-", "⁽": "(", "⁾": ")", "ø": "o",
    "θ": "theta", "Δ": "Delta", "ℓ": "l", "Σ": "sum", "↓": "v", "↑": "^",
}  # fmt: skip
"""ASCII for characters that this program writes."""

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What steers a terminal, reorders text around it, ends a line, or is no character; not tab and newline."""


def escape_controls(text: str, lines: bool = False) -> str:
    """Returns the text with escapes for the characters of `STEERING`.

    With `lines`, line breaks and tabs are escaped too.
    """
    if lines:
        text = text.translate({10: r"\n", 13: r"\r", 9: r"\t"})
    return STEERING.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    """Returns the escape of the character: `\\xff` for a byte that is no text, else such as `\\u{2028}`."""
    number = ord(found[0])
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file's name that is no text
        return f"\\x{number - 0xDC00:02x}"
    return f"\\u{{{number:x}}}"


def install_ascii_fallback(stream: TextIO) -> None:
    """Changes a stream so that it writes ASCII in place of characters that its encoding lacks.

    Registers the handler for the whole process. A stream that is no `TextIOWrapper` stays as it is.
    """
    codecs.register_error(HANDLER, _handle_encode_error)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors=HANDLER)


def to_ascii(text: str) -> str:
    """Returns a text in ASCII.

    A character of `REPLACEMENTS` is replaced; another becomes its letter without accents, or else an escape
    such as `\\u4e2d`.
    """
    return "".join(map(_replace_character, text))


def fit_stdout_encoding(text: str) -> str:
    """Returns the text if standard output can encode it, else the text in ASCII.

    It is for libraries that encode by rules of their own.
    """
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return to_ascii(text)
    return text


def _replace_character(character: str) -> str:
    """Returns the ASCII for one character, as `to_ascii` says."""
    if character.isascii():
        return character
    if character in REPLACEMENTS:
        return REPLACEMENTS[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return bare or character.encode("ascii", "backslashreplace").decode()


def _handle_encode_error(error: UnicodeError) -> tuple[str | bytes, int]:
    """Returns a replacement for the first character that an encoding lacks, and the index to continue at.

    It is a handler for `codecs.register_error`. A byte of a file's name that is no text stays that byte.
    Errors of decoding are raised again.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":  # a byte of a file's name that is no text
        return bytes([ord(character) - 0xDC00]), error.start + 1
    return to_ascii(character), error.start + 1
