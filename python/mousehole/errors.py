"""The one error a user can cause, and the one a user can ask for."""


class MouseholeError(ValueError):
    """A fault in the input, in one sentence: the file and line or the field, the value, what is allowed."""


class Stopped(KeyboardInterrupt):
    """The work was interrupted (Ctrl-C); the message says what was finished."""


def field_error(field: str, value: object, allowed: str) -> MouseholeError:
    """The error for a field or option holding a value that is not allowed, worded as the engine words it."""
    shown = f'"{value}"' if isinstance(value, str) else value
    return MouseholeError(f"{field}: {shown} is not allowed; {allowed}")
