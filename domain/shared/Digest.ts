/**
 * SHA-256, for keys that are stored as hashes and for comparing requests.
 */
import { Context } from "effect"

export class Digest extends Context.Service<
  Digest,
  {
    /** Of the UTF-8 bytes, in lowercase hex. Synchronous, because it is on the hot path. */
    sha256Hex(text: string): string
    sha256(bytes: Uint8Array): Uint8Array
  }
>()("agent-tool-billing/domain/shared/Digest") {}
