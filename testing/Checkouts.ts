/**
 * What a payer does on the page of the scripted payment processor, and the event by which the processor reports it.
 */
import { DateTime, Effect } from "effect"
import type { CheckoutStatus } from "../domain/ledger/PaymentGateway.ts"
import { PaymentEvents } from "../domain/processor/PaymentEvents.ts"
import { Entropy } from "../domain/shared/Cryptography.ts"
import { GatewayScript } from "./ScriptedGateway.ts"

const reportCheckout = Effect.fnUntraced(function* (sessionId: string, state: CheckoutStatus["state"]) {
  const script = yield* GatewayScript
  const known = script.checkouts.get(sessionId)
  if (known === undefined) return yield* Effect.die(new Error(`There is no checkout ${sessionId}`))
  const checkout: CheckoutStatus = {
    ...known,
    state,
    paymentId: state === "paid" ? `pi_${sessionId}` : known.paymentId
  }
  script.checkouts.set(sessionId, checkout)
  if (checkout.paymentId !== undefined) script.loadsOfPayments.set(checkout.paymentId, checkout.loadId)
  const eventId = `evt_${yield* (yield* Entropy).uuid}`
  yield* (yield* PaymentEvents).apply({ _tag: "CheckoutChanged", eventId, occurredAt: yield* DateTime.now, checkout })
  return checkout
})

/** The payer pays. Returns the checkout, with the id of the payment. */
export const payCheckout = (sessionId: string) => reportCheckout(sessionId, "paid")

/** The payer's bank declines the payment. */
export const declineCheckout = (sessionId: string) => reportCheckout(sessionId, "failed")
