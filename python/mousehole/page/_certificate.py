"""A certificate for one comparison: HTTP/2 and HTTP/3 need TLS, and no authority vouches for these hosts."""

import base64
import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LIFETIME = datetime.timedelta(days=13)
"""Below the 14 days beyond which browsers refuse a certificate of their own list for QUIC."""


@dataclass(frozen=True)
class Certificate:
    """Files of a certificate and its key, and the fingerprint by which a browser accepts it."""

    chain: Path
    key: Path
    fingerprint: str


def make_certificate(hosts: Sequence[str], folder: Path) -> Certificate:
    """Writes a certificate for these hosts and its key into the folder; nobody else may read the key.

    It is valid from an hour ago for `LIFETIME`, and signed by its own key. Overwrites `certificate.pem`
    and `key.pem`.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mousehole page")])
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
    known = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
    made = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin).not_valid_after(begin + LIFETIME)
        .add_extension(known, critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    chain_file, key_file = folder / "certificate.pem", folder / "key.pem"
    chain_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.touch(mode=0o600)
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return Certificate(chain_file, key_file, base64.b64encode(hashlib.sha256(public).digest()).decode())
