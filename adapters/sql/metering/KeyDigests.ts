/**
 * The digests of an idempotency key and of its request, as they are stored with a call: the first half. A row is only
 * compared with those of the same account, which gains nothing by a collision of its own keys or requests.
 */
const HEX_DIGITS = 32

export const storedDigest = (sha256Hex: string): string => sha256Hex.slice(0, HEX_DIGITS)
