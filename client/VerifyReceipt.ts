/**
 * Verifies a receipt of a service with the proof that the service serves. The verification itself trusts only `logKey`.
 */
import { type ReceiptVerdict, verifyReceipt as verifyOffline } from "../adapters/site/verify/ReceiptVerifier.browser.ts"
import type { Client } from "./Client.ts"
import type { Schemas } from "./Contract.ts"
import { ProblemError } from "./Problem.ts"

export interface VerifyReceiptOptions {
  /** A receipt is added to the log a few seconds after its call. How long to wait for that. Default: 30,000. */
  readonly waitMs?: number
}

const POLL_MS = 500

/** `logKey`: the log's public key (a C2SP vkey), as you noted it before; `client.log.logs()` returns it. */
export const verifyReceipt = async (
  client: Client,
  receipt: Schemas["Receipt"],
  logKey: string,
  { waitMs = 30_000 }: VerifyReceiptOptions = {}
): Promise<ReceiptVerdict> => {
  const deadline = Date.now() + waitMs
  for (;;) {
    try {
      const proof = await client.log.proof({ params: { id: receipt.receipt_id }, accept: "text/plain" })
      return verifyOffline(receipt, String(proof), logKey)
    } catch (error) {
      const isPending = error instanceof ProblemError && error.problem.code === "NOT_FOUND"
      if (!isPending || Date.now() >= deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}
