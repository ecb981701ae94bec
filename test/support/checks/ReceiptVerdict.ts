/**
 * Verdicts of the service `Receipts`, with a signer of the test's own.
 */
import { Effect, Layer } from "effect"
import { Receipts, ReceiptSigner, ReceiptStore, type Verdict } from "../../../domain/receipts/Receipts.ts"

/** `Receipts` with these keys, without stored receipts. */
export const receiptsSignedBy = (signer: Layer.Layer<ReceiptSigner>): Layer.Layer<Receipts> =>
  Layer.fresh(Receipts.layer).pipe(Layer.provide([Layer.mock(ReceiptStore, {}), signer]))

export const verdictBy = (candidate: unknown, verify: (canonical: string, signatureHex: string) => boolean): Verdict =>
  Effect.runSync(
    Effect.flatMap(Receipts, (receipts) => receipts.verify(candidate)).pipe(
      Effect.provide(
        receiptsSignedBy(
          Layer.succeed(ReceiptSigner, {
            sign: () => Effect.succeed(""),
            verify: (canonical, signatureHex) => Effect.succeed(verify(canonical, signatureHex))
          })
        )
      )
    )
  )
