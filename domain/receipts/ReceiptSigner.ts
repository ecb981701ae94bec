/**
 * Signs with the newest secret and verifies with all of them. Synchronous, because it is on the hot path.
 */
import { Context } from "effect"

export class ReceiptSigner extends Context.Service<
  ReceiptSigner,
  {
    /** 64 lowercase hex digits over the UTF-8 bytes. */
    sign(canonical: string): string
    /** In constant time with regard to the signature. */
    verify(canonical: string, signatureHex: string): boolean
  }
>()("agent-tool-billing/domain/receipts/ReceiptSigner") {}
