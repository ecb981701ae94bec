/**
 * Ports of cryptography: hashes, randomness, encryption of stored data, comparison of secrets.
 */
import { Context, type Effect, type Option } from "effect"

/** SHA-256, for keys that are stored as hashes and for comparing requests. */
export class Digest extends Context.Service<
  Digest,
  {
    /** Hashes the UTF-8 bytes, in lowercase hex. Synchronous, because it is on the hot path. */
    sha256Hex(text: string): string
    sha256(bytes: Uint8Array): Uint8Array
  }
>()("agent-tool-billing/domain/shared/Digest") {}

/** Randomness for ids and secrets: a cryptographic source in every profile. */
export class Entropy extends Context.Service<
  Entropy,
  {
    /** A version 7 UUID, ordered by the time of the Clock. */
    readonly uuid: Effect.Effect<string>
    /** `byteCount` random bytes in lowercase hex. */
    hex(byteCount: number): Effect.Effect<string>
  }
>()("agent-tool-billing/domain/shared/Entropy") {}

/** Encrypts stored data that must not be readable in the store, such as a response that contains a key. */
export class Sealer extends Context.Service<
  Sealer,
  {
    /** Authenticated encryption; `context` must be the same for decryption. */
    seal(text: string, context: string): string
    /** Returns none if the secret is no longer known, the context differs, or the data was changed. */
    open(sealed: string, context: string): Option.Option<string>
  }
>()("agent-tool-billing/domain/shared/Sealer") {}

// Compares two secrets in a time that does not depend on where they differ.

export const isSameText = (one: string, other: string): boolean => {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
