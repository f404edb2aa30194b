"""Blind signatures (RFC 9474): an issuer signs what it cannot see.

    from rsalab import blind

    client = blind.BlindClient(public_key)                         # the client has the issuer's public key
    blinded, states = client.blind_many(messages)                  # `blinded` goes to the issuer, the states stay
    answers = blind.sign_many(private_key, blinded)                # the issuer: any clients' requests in one call
    signatures = client.finalize_many(messages, states, answers)   # the client: verified
    prefixes = [state.prefix for state in states]
    client.verify_many(messages, signatures, prefixes)             # anybody
"""

from ._rsalab import BlindClient, BlindState
from ._rsalab import blind_sign_many as sign_many
from ._rsalab import blind_variants as variants

__all__ = ["BlindClient", "BlindState", "sign_many", "variants"]
