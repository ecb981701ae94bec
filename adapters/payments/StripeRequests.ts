/**
 * Requests to Stripe. The package's own retries are off, because the caller decides when to send an order again.
 */
import { Effect, Redacted } from "effect"
import { Stripe } from "stripe"
import { PaymentFailed } from "../../domain/ledger/PaymentGateway.ts"

/** The keys of a Stripe account, and where its API is. */
export interface StripeSettings {
  readonly secretKey: Redacted.Redacted
  /** Without it every webhook is rejected. */
  readonly webhookSecret: Redacted.Redacted | undefined
  /** Another URL than Stripe's API, such as a double for tests. */
  readonly apiBase: string | undefined
}

const ATTEMPT_TIMEOUT_MS = 10_000
/** The package's timeout restarts with each byte: a slow response would never end. */
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
        orElse: () => unreadable(operation, "its response took too long")
      })
    )

  /** `read` throws if the response is not as Stripe documents it: then the outcome of the order is unknown. */
  const askFor = <A, B>(operation: string, request: () => Promise<A>, read: (answer: A) => B) =>
    Effect.flatMap(ask(operation, request), (answer) =>
      Effect.try({
        try: () => read(answer),
        catch: () => new PaymentFailed({ operation, definite: false, reason: "its response could not be read" })
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

/** Rejected before anything was done: because of the request, its permissions, or the account's state. */
const failureOf = (operation: string, error: unknown): PaymentFailed => {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return new PaymentFailed({ operation, definite: false, reason: "the connection failed" })
  }
  const status = error.statusCode
  const definite =
    status !== undefined && status >= 400 && status < 500 && status !== 409 && status !== 429 && !isIdempotency(error)
  return new PaymentFailed({ operation, definite, reason: error.message.slice(0, REASON_CHARS_MAX) })
}

/** The key belongs to another order, or to one in progress: the outcome of that one is unknown here. */
const isIdempotency = (error: Stripe.errors.StripeError): boolean =>
  error instanceof Stripe.errors.StripeIdempotencyError

/**
 * For responses that are valid JSON but not objects: the package would neither settle the request's promise nor catch its
 * own error, and an uncaught error ends the process.
 */
const objectsOnly = (): ReturnType<typeof Stripe.createNodeHttpClient> => {
  const client = Stripe.createNodeHttpClient()
  const makeRequest = client.makeRequest.bind(client)
  client.makeRequest = async (...request) => {
    const response = await makeRequest(...request)
    const toJSON = response.toJSON.bind(response)
    response.toJSON = async () => {
      const answer: unknown = await toJSON()
      if (typeof answer !== "object" || answer === null) throw new TypeError("Expected an object")
      return answer
    }
    return response
  }
  return client
}
