/**
 * SHA-256, for keys that are kept only as a hash and for telling one request from another.
 */
import { Context } from "effect"

export class Digest extends Context.Service<
  Digest,
  {
    /** Of the UTF-8 bytes, in lowercase hex. Synchronous: it stands on the hot path. */
    sha256Hex(text: string): string
    sha256(bytes: Uint8Array): Uint8Array
  }
>()("agent-tool-billing/domain/shared/Digest") {}
