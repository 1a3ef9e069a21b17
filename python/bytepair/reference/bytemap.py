"""An aside: GPT-2's way to write bytes as visible characters.

In: bytes. Out: a string in which each byte is one visible character: ``Ġ`` is a space, ``Ċ`` a line
feed. Vocabulary files need it because a token may be half a character, which no text file can hold.

The 188 bytes that look like something in Latin-1 stand for themselves; the other 68 (control
characters, spaces, the soft hyphen) get the characters from U+0100 on, in order.
"""

from __future__ import annotations


def bytes_to_unicode() -> dict[int, str]:
    """The character for each byte.

    >>> bytes_to_unicode()[ord(" ")], bytes_to_unicode()[ord("A")]
    ('Ġ', 'A')
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    table = {byte: chr(byte) for byte in visible}
    table.update({byte: chr(0x100 + position) for position, byte in enumerate(hidden)})
    return dict(sorted(table.items()))


BYTE_TO_CHAR = bytes_to_unicode()
CHAR_TO_BYTE = {char: byte for byte, char in BYTE_TO_CHAR.items()}


def spell(token: bytes) -> str:
    """Write a token's bytes as visible characters.

    >>> spell(" né".encode())
    'ĠnÃ©'
    """
    return "".join(BYTE_TO_CHAR[byte] for byte in token)


def unspell(text: str) -> bytes:
    """Read what `spell` wrote.

    >>> unspell("Ġn")
    b' n'
    """
    for char in text:
        if char not in CHAR_TO_BYTE:
            raise ValueError(
                f"{text!r} holds {char!r}, which spells no byte; if it is a special token, name it"
            )
    return bytes(CHAR_TO_BYTE[char] for char in text)
