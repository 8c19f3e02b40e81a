"""Programs that tests run on both sides of a link: `python link_programs.py NAME ARGUMENTS`."""

import json
import os
import socket
import struct
import sys
import threading
import time

PORT = 5000
TEXT = {4: "MOUSEHOLE_SERVER", 6: "MOUSEHOLE_SERVER6"}


def serve() -> None:
    """Answers each connection's request, a number of bytes, over IPv4 and IPv6."""
    listener = socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(end,), daemon=True).start()


def answer(end: socket.socket) -> None:
    """Sends as many bytes as each line of the request names, until the connection is closed."""
    with end, end.makefile("rb") as lines:
        for line in lines:
            end.sendall(bytes(int(line)))


def fetch(*sizes: str) -> None:
    """Fetches these numbers of bytes, one connection after the other, over IPv4 and IPv6 in turn."""
    for number, size in enumerate(sizes):
        ask((4, 6)[number % 2], [int(size)], 0.0)


def persist(*sizes: str) -> None:
    """Fetches these numbers of bytes over one connection, with a pause of 0.1 s after each."""
    ask(4, [int(size) for size in sizes], 0.1)


def ask(version: int, sizes: list[int], pause_s: float) -> None:
    """Opens a connection, and asks for each size after the answer to the one before and a pause."""
    with socket.create_connection((os.environ[TEXT[version]], PORT), timeout=20) as end:
        for size in sizes:
            end.sendall(f"{size}\n".encode())
            left = size
            while left:
                part = end.recv(65536)
                if not part:
                    raise ConnectionError(f"the server closed with {left} B left")
                left -= len(part)
            time.sleep(pause_s)


def flood(version: str, rate_bps: str, seconds: str, tos: str) -> None:
    """Sends datagrams of 1200 bytes at a rate to whoever asks for them, with a TOS byte; then waits 30 s."""
    family = socket.AF_INET if version == "4" else socket.AF_INET6
    sender = socket.socket(family, socket.SOCK_DGRAM)
    if version == "4":
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
    else:
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, int(tos))
    sender.bind(("", PORT))
    _, client = sender.recvfrom(100)
    begin, sent = time.monotonic(), 0
    while (now := time.monotonic() - begin) < float(seconds):
        while sent * 1200 * 8 < now * float(rate_bps):
            sender.sendto(struct.pack("=I", sent) + bytes(1196), client)
            sent += 1
        time.sleep(0.001)
    sender.sendto(b"end", client)
    time.sleep(30)


def receive(version: str, seconds: str) -> None:
    """Asks for datagrams, and prints as JSON how many came, how many had CE, and their rate."""
    family = socket.AF_INET if version == "4" else socket.AF_INET6
    end = socket.socket(family, socket.SOCK_DGRAM)
    if version == "4":
        end.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    else:
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
    end.settimeout(3)
    end.sendto(b"please", (os.environ[TEXT[int(version)]], PORT))
    times, sizes, marks = [], [], 0
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        try:
            data, fields, _, _ = end.recvmsg(2048, 200)
        except TimeoutError:
            break
        if data == b"end":
            break
        times.append(time.monotonic())
        sizes.append(len(data) + (28 if version == "4" else 48))
        marks += any((field[2][0] & 3) == 3 for field in fields)
    span = times[-1] - times[0] if len(times) > 1 else 1.0
    print(json.dumps({"packets": len(times), "marks": marks, "rate_bps": 8 * sum(sizes[1:]) / span}))


def ping(version: str) -> None:
    """Sends an ICMP echo request as any user may, and prints the seconds until the answer."""
    family, protocol = (
        (socket.AF_INET, socket.IPPROTO_ICMP) if version == "4" else (socket.AF_INET6, socket.IPPROTO_ICMPV6)
    )
    end = socket.socket(family, socket.SOCK_DGRAM, protocol)
    end.settimeout(5)
    begin = time.monotonic()
    end.sendto(
        struct.pack("!BBHHH", 8 if version == "4" else 128, 0, 0, 1, 1), (os.environ[TEXT[int(version)]], 0)
    )
    end.recv(100)
    print(time.monotonic() - begin)


def raw() -> None:
    """Sends seven packets that are not IP into the link's device (needs CAP_NET_RAW)."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    for _ in range(7):
        end.sendto(b"\x20" + bytes(60), ("link", 0x88B5, 0, 0, b""))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
