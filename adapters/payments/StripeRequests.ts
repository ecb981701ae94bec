/**
 * Requests to Stripe. The package's own retries are off: the caller decides when to send an order again.
 */
import { Effect, Redacted } from "effect"
import { Stripe } from "stripe"
import { PaymentFailed } from "../../domain/payments/PaymentGateway.ts"
import { objectsOnly } from "./StripeHttp.ts"

export interface StripeSettings {
  readonly secretKey: Redacted.Redacted
  /** Without it no webhook is believed. */
  readonly webhookSecret: Redacted.Redacted | undefined
  /** Another place than Stripe's own, such as a double for tests. */
  readonly apiBase: string | undefined
}

const ATTEMPT_TIMEOUT_MS = 10_000
/** The package's time-out counts from the last byte: an answer that trickles in would never end. */
const ATTEMPT_TOTAL_MS = 20_000
const REASON_CHARS_MAX = 300

export const makeStripeRequests = (settings: StripeSettings) => {
  const stripe = new Stripe(Redacted.value(settings.secretKey), {
    maxNetworkRetries: 0,
    timeout: ATTEMPT_TIMEOUT_MS,
    telemetry: false,
    httpClient: objectsOnly(),
    appInfo: { name: "agent-tool-billing" },
    ...placeOf(settings.apiBase)
  })

  const ask = <A>(operation: string, request: () => Promise<A>): Effect.Effect<A, PaymentFailed> =>
    Effect.tryPromise({ try: request, catch: (error) => failureOf(operation, error) }).pipe(
      Effect.timeoutOrElse({
        duration: ATTEMPT_TOTAL_MS,
        orElse: () => unreadable(operation, "its answer took too long")
      })
    )

  /** `read` throws where the answer is not what Stripe documents: then what became of the order is not known. */
  const askFor = <A, B>(operation: string, request: () => Promise<A>, read: (answer: A) => B) =>
    Effect.flatMap(ask(operation, request), (answer) =>
      Effect.try({
        try: () => read(answer),
        catch: () => new PaymentFailed({ operation, definite: false, reason: "its answer could not be read" })
      })
    )

  return { stripe, ask, askFor }
}

export const unreadable = (operation: string, reason: string) =>
  Effect.fail(new PaymentFailed({ operation, definite: false, reason }))

const placeOf = (apiBase: string | undefined) => {
  if (apiBase === undefined) return {}
  const { hostname, port, protocol } = new URL(apiBase)
  const plain = protocol === "http:"
  return {
    host: hostname,
    port: port === "" ? (plain ? 80 : 443) : Number(port),
    protocol: plain ? ("http" as const) : ("https" as const)
  }
}

/** Refused before anything was done: by the request itself, by its rights, or by the account's state. */
const failureOf = (operation: string, error: unknown): PaymentFailed => {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new PaymentFailed({ operation, definite: false, reason: "the connection failed" })
  }
  const status = error.statusCode
  const definite =
    status !== undefined && status >= 400 && status < 500 && status !== 409 && status !== 429 && !isIdempotency(error)
  return new PaymentFailed({ operation, definite, reason: error.message.slice(0, REASON_CHARS_MAX) })
}

/** The key stands for another order, or for one under way: what became of that one is not known here. */
const isIdempotency = (error: Stripe.errors.StripeError): boolean =>
  error instanceof Stripe.errors.StripeIdempotencyError
