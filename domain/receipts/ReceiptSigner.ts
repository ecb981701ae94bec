/**
 * Port to the signing keys: signs with the newest and verifies with all of them. A key in this process answers at once,
 * because every settlement waits for it. A remote key (a KMS) answers with an effect.
 */
import { Context, Effect, Schema } from "effect"

/** The key cannot be used at the moment. Nothing was signed; retry later. */
export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", {
  cause: Schema.Defect()
}) {
  override get message() {
    return "The key that signs receipts is unavailable. Check the key service, and retry in a few seconds."
  }
}

/** An answer of a key in this process, or an effect that asks a key elsewhere. */
export type LocalOrRemote<A> = A | Effect.Effect<A, SignerUnavailable>

export class ReceiptSigner extends Context.Service<
  ReceiptSigner,
  {
    /** HMAC-SHA256 of the text's UTF-8 bytes: 64 lowercase hex digits. */
    sign(canonical: string): LocalOrRemote<string>
    /** In constant time with regard to the signature. False for a signature of any other form. */
    verify(canonical: string, signatureHex: string): LocalOrRemote<boolean>
  }
>()("agent-tool-billing/domain/receipts/ReceiptSigner") {}

export const answered = <A>(answer: LocalOrRemote<A>): Effect.Effect<A, SignerUnavailable> =>
  Effect.isEffect(answer) ? (answer as Effect.Effect<A, SignerUnavailable>) : Effect.succeed(answer)
