/**
 * Signs checkpoints with Ed25519. A new key starts a new log.
 */
import { Context } from "effect"

export class LogSigner extends Context.Service<
  LogSigner,
  {
    /** 32 bytes. */
    readonly publicKey: Uint8Array
    /** 64 bytes. The same text always has the same signature. */
    sign(message: Uint8Array): Uint8Array
    /** Of any key, the current one or an earlier one. */
    verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean
  }
>()("agent-tool-billing/domain/log/LogSigner") {}
