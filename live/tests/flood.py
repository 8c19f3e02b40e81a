"""Sends datagrams with a new 5-tuple each: `flood.py DEVICE DESTINATION_MAC SOURCE COUNT BYTES [RATE_PER_S]`.

Destination addresses and ports vary; the source is one host. Nobody receives them: the Ethernet address is
another host's, so the far end ignores them.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

FIRST = int.from_bytes(socket.inet_aton("198.18.0.0"), "big")
PORTS = 50_000
UDP = 17


def build_frame(mac: str, source: str, length: int) -> bytearray:
    """Returns a frame without destination address and ports; `length` is the IP length."""
    ethernet = bytes.fromhex(mac.replace(":", "")) + bytes(6) + b"\x08\x00"
    header = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, UDP, 0, socket.inet_aton(source), bytes(4)
    )
    datagram = struct.pack(">HHHH", 0, 0, length - 20, 0)
    return bytearray((ethernet + header + datagram).ljust(14 + length, b"\0"))


def main() -> int:
    """Sends the datagrams named on the command line.

    Prints how many were sent and in how many seconds. Returns 0.
    """
    device, mac, source, count, length = sys.argv[1:6]
    rate = float(sys.argv[6]) if len(sys.argv) > 6 else 0.0
    frame = build_frame(mac, source, int(length))
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((device, 0))
    begin = time.monotonic()
    for number in range(int(count)):
        struct.pack_into(">IHH", frame, 14 + 16, FIRST + number // PORTS, 9, 1024 + number % PORTS)
        out.send(frame)
        if rate and (early := number / rate - (time.monotonic() - begin)) > 0:
            time.sleep(early)
    print(int(count), time.monotonic() - begin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
