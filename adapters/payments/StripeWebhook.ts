/**
 * Verifies a webhook of Stripe: a valid signature, made within five minutes of now in either direction.
 */
import { Stripe } from "stripe"
import type { PaymentEvent } from "../../domain/ledger/PaymentGateway.ts"
import { eventOf, notificationOf } from "./StripeEvents.ts"

/** Stripe's own tolerance for old signatures; its package accepts any that is dated in the future. */
const SIGNED_AHEAD_SECONDS_MAX = 300

/** Throws for an invalid or untrusted event: `faultOf` states the reason. */
export const readWebhook = (
  stripe: Stripe,
  secret: string,
  body: string,
  signature: string,
  nowMs: number
): PaymentEvent => {
  const event = isThin(body)
    ? notificationOf(stripe.parseEventNotification(body, signature, secret, undefined, undefined, nowMs))
    : eventOf(stripe.webhooks.constructEvent(body, signature, secret, undefined, undefined, nowMs))
  if (signedAtSeconds(signature) > nowMs / 1_000 + SIGNED_AHEAD_SECONDS_MAX) throw new SignedInFuture()
  return event
}

export const faultOf = (error: unknown): string => {
  if (error instanceof Stripe.errors.StripeSignatureVerificationError) {
    return "its signature is invalid or too old"
  }
  return error instanceof SignedInFuture
    ? `it was signed more than ${SIGNED_AHEAD_SECONDS_MAX} s in the future`
    : "it cannot be read"
}

class SignedInFuture extends Error {}

/** The kind of the event must be known before its signature is checked; nothing else is used. */
const isThin = (body: string): boolean => {
  const event: unknown = JSON.parse(body)
  return typeof event === "object" && event !== null && "object" in event && event.object === "v2.core.event"
}

/** As the package reads the header: the last `t` counts. Anything but a number is treated as infinitely late. */
const signedAtSeconds = (signature: string): number => {
  const last = signature.split(",").findLast((part) => part.split("=")[0] === "t")
  const seconds = Number.parseInt(last?.split("=")[1] ?? "", 10)
  return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds
}
