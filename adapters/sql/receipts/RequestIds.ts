/**
 * IDs of requests in `receipts.request_id`: generated ones, which are most, take 17 bytes instead of 36.
 */

/** A byte that no ID contains, and the 16 bytes of the UUID. Any other ID is its own characters. */
const UUID_MARK = 1
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

/** As PostgreSQL reads a bytea. */
export const packedRequestId = (id: string): string =>
  UUID.test(id) ? `\\x01${id.replaceAll("-", "")}` : `\\x${Buffer.from(id, "latin1").toString("hex")}`

export const requestIdOf = (packed: Uint8Array): string => {
  const bytes = Buffer.from(packed)
  if (bytes[0] !== UUID_MARK) return bytes.toString("latin1")
  const hex = bytes.toString("hex", 1)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
