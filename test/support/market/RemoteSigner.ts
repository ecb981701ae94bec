/**
 * A signer whose key is elsewhere: it answers asynchronously, and may fail, hang or return nonsense.
 */
import { Effect } from "effect"
import { ReceiptSigner, SIGNATURE, SignerUnavailable } from "../../../domain/receipts/Receipts.ts"

export type Mishap = "fails" | "hangs" | "cannot be interrupted" | "garbles"

export interface KeyService {
  /** What happens to each request; undefined: it is answered. */
  mishap: () => Mishap | undefined
  /** Requests so far. */
  asked: number
}

const HMAC = { name: "HMAC", hash: "SHA-256" }

export const remoteSigner = (
  secret: string,
  service: KeyService = { mishap: () => undefined, asked: 0 }
): ReceiptSigner["Service"] => {
  const key = crypto.subtle.importKey("raw", Buffer.from(secret), HMAC, false, ["sign", "verify"])
  const ask = <A>(answer: (key: CryptoKey, garbled: boolean) => Promise<A>): Effect.Effect<A, SignerUnavailable> =>
    Effect.suspend(() => {
      service.asked++
      const mishap = service.mishap()
      if (mishap === "hangs") return Effect.never
      if (mishap === "cannot be interrupted") return Effect.uninterruptible(Effect.never)
      if (mishap === "fails") return Effect.fail(new SignerUnavailable({ cause: new Error("The key service is away") }))
      return Effect.promise(async () => answer(await key, mishap === "garbles"))
    })
  return ReceiptSigner.of({
    sign: (text) =>
      ask(async (hmac, garbled) => {
        const bytes = Buffer.from(await crypto.subtle.sign("HMAC", hmac, Buffer.from(text)))
        return bytes.toString(garbled ? "base64" : "hex")
      }),
    verify: (text, signature) =>
      ask(async (hmac) =>
        SIGNATURE.test(signature)
          ? crypto.subtle.verify("HMAC", hmac, Buffer.from(signature, "hex"), Buffer.from(text))
          : false
      )
  })
}
