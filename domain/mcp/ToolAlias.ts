/**
 * The form of aliases: names of tools at the market door, `{handle}__{tool_name}` in characters and lengths that every
 * client accepts. No store is needed: which tool has which alias is decided in `ToolAliases`.
 */
import { qualifiedName } from "../accounts/Handle.ts"

/** Clients put the name of the server in front and allow 60 to 64 characters for both. */
export const ALIAS_CHARS_MAX = 40
const FORM = /^[A-Za-z0-9_-]{1,40}$/u
const HASH_CHARS = 10
/** 52 bits of hash in each: one is enough unless a provider searches for collisions with its own tools. */
const HASHED_CANDIDATES = 4

export const isAlias = (text: string): boolean => FORM.test(text)

/**
 * The aliases that a tool may get, best first: the plain one if it fits, then shortened ones that end in a hash of the
 * qualified name.
 */
export const aliasCandidates = (
  handle: string,
  toolName: string,
  sha256Hex: (text: string) => string
): ReadonlyArray<string> => {
  const plain = `${handle}__${toolName}`.replaceAll(/[^A-Za-z0-9_-]/gu, "_")
  const name = qualifiedName(handle, toolName)
  const hashed = Array.from({ length: HASHED_CANDIDATES }, (_, n) =>
    ended(plain, base36(sha256Hex(n === 0 ? name : `${name} ${n}`)))
  )
  return plain.length <= ALIAS_CHARS_MAX ? [plain, ...hashed] : hashed
}

/**
 * A cut within the handle leaves a single `_`, so that the alias cannot have the form `{handle}__{tool_name}` of another
 * provider's tool.
 */
const ended = (plain: string, hash: string): string =>
  `${plain.slice(0, ALIAS_CHARS_MAX - HASH_CHARS - 1).replace(/[_-]+$/u, "")}_${hash}`

/** The last digits: the first ones are not evenly distributed. */
const base36 = (hex: string): string => BigInt(`0x${hex}`).toString(36).padStart(HASH_CHARS, "0").slice(-HASH_CHARS)
