/**
 * A webhook of Stripe's, believed only with Stripe's signature, made within five minutes of now in either direction.
 */
import { Stripe } from "stripe"
import type { PaymentEvent } from "../../domain/payments/PaymentGateway.ts"
import { eventOf, notificationOf } from "./StripeEvents.ts"

/** Stripe's own tolerance for old signatures; its package takes any that is dated in the future. */
const SIGNED_AHEAD_SECONDS_MAX = 300

/** Throws for what is no event, and for one that is not to be believed: `faultOf` says why. */
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
    return "its signature is not the processor's, or too old"
  }
  return error instanceof SignedInFuture
    ? `it was signed more than ${SIGNED_AHEAD_SECONDS_MAX} s in the future`
    : "it cannot be read"
}

class SignedInFuture extends Error {}

/** Which of the two kinds an event is has to be known before its signature is checked; nothing else of it is used. */
const isThin = (body: string): boolean => {
  const event: unknown = JSON.parse(body)
  return typeof event === "object" && event !== null && "object" in event && event.object === "v2.core.event"
}

/** As the package reads the header: the last `t` counts. What is no number is as late as can be. */
const signedAtSeconds = (signature: string): number => {
  const last = signature.split(",").findLast((part) => part.split("=")[0] === "t")
  const seconds = Number.parseInt(last?.split("=")[1] ?? "", 10)
  return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds
}
