/**
 * Bytes: SHA-256, encodings, comparison. Runs in browsers and in Node.
 */
export type Bytes = Uint8Array<ArrayBuffer>

/** Synchronous where available: WebCrypto would send each of a proof's hashes to another thread. */
const nodeCrypto: { readonly hash?: (name: string, bytes: Bytes, form: "buffer") => Bytes } | undefined =
  typeof process === "undefined" ? undefined : process.getBuiltinModule?.("node:crypto")

export const sha256 = async (...parts: ReadonlyArray<Bytes>): Promise<Bytes> => {
  const bytes = concat(parts)
  return nodeCrypto?.hash?.("sha256", bytes, "buffer") ?? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
}

const concat = (parts: ReadonlyArray<Bytes>): Bytes => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

export const hex = (bytes: Bytes): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

const BASE64_CHARS_MAX = 65_536

/** Undefined unless it is the canonical encoding. */
export const fromBase64 = (text: string): Bytes | undefined => {
  if (text.length > BASE64_CHARS_MAX) return undefined
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return btoa(String.fromCharCode(...bytes)) === text ? bytes : undefined
}

/** Longer than any receipt, proof or note. */
const TEXT_CHARS_MAX = 1_048_576

export const isShortText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= TEXT_CHARS_MAX
