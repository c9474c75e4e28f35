"""Protobuf written by hand, for what the library would not write."""


def field(number: int, content: bytes) -> bytes:
    """Return a length-delimited protobuf field."""
    size, length = len(content), bytearray()
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([number << 3 | 2]) + bytes([*length, size]) + content
