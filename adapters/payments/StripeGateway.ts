/**
 * PaymentGateway on Stripe: hosted Checkout for loads, Accounts v2 as recipients and transfers for payouts. Every order
 * carries an idempotency key made from our id, so that it happens once however often it is sent.
 */
import { Clock, DateTime, Effect, Layer, Redacted } from "effect"
import { Stripe } from "stripe"
import type { Book } from "../../domain/ledger/Book.ts"
import {
  type CheckoutStatus,
  type PaymentEvent,
  PaymentFailed,
  PaymentGateway,
  PaymentsNotConfigured,
  type Refunded,
  UntrustedEvent
} from "../../domain/ledger/PaymentGateway.ts"
import { CURRENCY } from "../../domain/payments/Loads.ts"
import {
  checkoutOf,
  eventOf,
  loadIdOf,
  nameIn,
  notificationOf,
  payeeOf,
  refundStateOf,
  transferredOf
} from "./StripeEvents.ts"

// Requests to Stripe. The package's own retries are off, because the caller decides when to send an order again.

/** The keys of a Stripe account, and where its API is. */
interface StripeSettings {
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

const makeStripeRequests = (settings: StripeSettings) => {
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

const unreadable = (operation: string, reason: string) =>
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
 * Rejects responses that are valid JSON but not objects: the package would neither settle the request's promise nor catch its
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

// Verifies a webhook of Stripe: a valid signature, made within five minutes of now in either direction.

/** Stripe's own tolerance for old signatures; its package accepts any that is dated in the future. */
const SIGNED_AHEAD_SECONDS_MAX = 300

/** Throws for an invalid or untrusted event: `faultOf` states the reason. */
const readWebhook = (stripe: Stripe, secret: string, body: string, signature: string, nowMs: number): PaymentEvent => {
  const event = isThin(body)
    ? notificationOf(stripe.parseEventNotification(body, signature, secret, undefined, undefined, nowMs))
    : eventOf(stripe.webhooks.constructEvent(body, signature, secret, undefined, undefined, nowMs))
  if (signedAtSeconds(signature) > nowMs / 1_000 + SIGNED_AHEAD_SECONDS_MAX) throw new SignedInFuture()
  return event
}

const faultOf = (error: unknown): string => {
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

/** The last `t` counts, as in the package. Anything but a number is treated as infinitely late. */
const signedAtSeconds = (signature: string): number => {
  const last = signature.split(",").findLast((part) => part.split("=")[0] === "t")
  const seconds = Number.parseInt(last?.split("=")[1] ?? "", 10)
  return Number.isNaN(seconds) ? Number.POSITIVE_INFINITY : seconds
}

/** A page has 100 events. */
const EVENT_PAGES_MAX = 10

const make = (settings: StripeSettings): PaymentGateway["Service"] => {
  const { ask, askFor, stripe } = makeStripeRequests(settings)
  const mode = modeOf(Redacted.value(settings.secretKey))
  let known: Book | undefined
  const remember = (book: Book) =>
    Effect.sync(() => {
      known = book
    })

  const askForBook: Effect.Effect<Book, PaymentFailed> = ask("account", () => stripe.accounts.retrieveCurrent()).pipe(
    Effect.flatMap(({ id }) =>
      mode !== undefined && typeof id === "string" && id !== ""
        ? Effect.succeed({ mode, accountId: id })
        : Effect.fail(
            new PaymentFailed({
              operation: "account",
              definite: mode === undefined,
              reason:
                mode === undefined
                  ? "STRIPE_SECRET_KEY is neither a test key (sk_test_...) nor a live key (sk_live_...)"
                  : "its response names no account"
            })
          )
    )
  )

  const ours = (sessionId: string, standing: CheckoutStatus | undefined) => {
    if (standing !== undefined) return Effect.succeed(standing)
    const reason = `${sessionId} is not a checkout of this service`
    return Effect.fail(new PaymentFailed({ operation: "checkout", definite: true, reason }))
  }

  return PaymentGateway.of({
    mode: "live",

    bookMode: mode,

    book: Effect.suspend(() => (known === undefined ? Effect.tap(askForBook, remember) : Effect.succeed(known))),

    checkout: (order) =>
      askFor(
        "checkout",
        () =>
          stripe.checkout.sessions.create(
            {
              mode: "payment",
              client_reference_id: order.loadId,
              success_url: order.successUrl,
              cancel_url: order.cancelUrl,
              line_items: [
                {
                  quantity: 1,
                  price_data: {
                    currency: CURRENCY,
                    unit_amount: order.amountCents,
                    product_data: { name: "Balance for tool calls" }
                  }
                }
              ],
              metadata: { load_id: order.loadId, consumer_id: order.consumerId },
              payment_intent_data: { metadata: { load_id: order.loadId, consumer_id: order.consumerId } }
            },
            { idempotencyKey: `load_${order.loadId}` }
          ),
        ({ expires_at, id, url }) => ({
          sessionId: nameIn(id),
          url: nameIn(url),
          expiresAt: DateTime.makeUnsafe(expires_at * 1_000)
        })
      ),

    checkoutStatus: (sessionId) =>
      askFor("checkout", () => stripe.checkout.sessions.retrieve(sessionId), checkoutOf).pipe(
        Effect.flatMap((standing) => ours(sessionId, standing))
      ),

    paidCheckouts: Effect.fnUntraced(function* (since) {
      const paid: Array<CheckoutStatus> = []
      let after: string | undefined
      for (let page = 0; page < EVENT_PAGES_MAX; page++) {
        const { data, has_more } = yield* ask("events", () =>
          stripe.events.list({
            types: ["checkout.session.completed", "checkout.session.async_payment_succeeded"],
            created: { gte: Math.floor(since.epochMilliseconds / 1_000) },
            limit: 100,
            ...(after === undefined ? {} : { starting_after: after })
          })
        )
        paid.push(...(yield* askFor("events", () => Promise.resolve(data), paidIn)))
        after = data.at(-1)?.id
        if (!has_more || after === undefined) break
      }
      return paid
    }),

    loadOfPayment: (paymentId) => askFor("payment", () => stripe.paymentIntents.retrieve(paymentId), loadIdOf),

    paymentFee: (paymentId) =>
      ask("fee", () =>
        stripe.paymentIntents.retrieve(paymentId, { expand: ["latest_charge.balance_transaction"] })
      ).pipe(Effect.flatMap(feeOf)),

    refund: ({ amountCents, partId, paymentId }) =>
      askFor(
        "refund",
        () =>
          stripe.refunds.create(
            { payment_intent: paymentId, amount: amountCents, metadata: { withdrawal_part: partId } },
            { idempotencyKey: `withdrawal_${partId}` }
          ),
        madeRefund
      ),

    refundOf: (partId, paymentId) =>
      askFor(
        "refund",
        () => stripe.refunds.list({ payment_intent: paymentId, limit: 100 }),
        ({ data, has_more }) => {
          const made = data.find(({ metadata }) => metadata?.["withdrawal_part"] === partId)
          return { made: made === undefined ? undefined : madeRefund(made), isWhole: !has_more }
        }
      ).pipe(
        Effect.flatMap(({ isWhole, made }) =>
          made !== undefined || isWhole
            ? Effect.succeed(made)
            : unreadable("refund", "the payment has too many refunds")
        )
      ),

    openPayee: ({ email, name, providerId }) =>
      askFor(
        "account",
        () =>
          stripe.v2.core.accounts.create(
            {
              contact_email: email,
              display_name: name,
              dashboard: "express",
              configuration: {
                recipient: { capabilities: { stripe_balance: { stripe_transfers: { requested: true } } } }
              },
              defaults: { responsibilities: { fees_collector: "application", losses_collector: "application" } },
              metadata: { provider_id: providerId }
            },
            { idempotencyKey: `payee_${providerId}` }
          ),
        (account) => nameIn(account.id)
      ),

    onboard: (accountId, { refreshUrl, returnUrl }) =>
      askFor(
        "account link",
        () =>
          stripe.v2.core.accountLinks.create({
            account: accountId,
            use_case: {
              type: "account_onboarding",
              account_onboarding: { refresh_url: refreshUrl, return_url: returnUrl }
            }
          }),
        (link) => ({ url: nameIn(link.url), expiresAt: DateTime.makeUnsafe(nameIn(link.expires_at)) })
      ),

    payee: (accountId) =>
      askFor(
        "account",
        () => stripe.v2.core.accounts.retrieve(accountId, { include: ["configuration.recipient", "requirements"] }),
        payeeOf
      ),

    transfer: ({ accountId, amountCents, payoutId, providerId }) =>
      askFor(
        "transfer",
        () =>
          stripe.transfers.create(
            {
              amount: amountCents,
              currency: CURRENCY,
              destination: accountId,
              transfer_group: payoutId,
              metadata: { payout_id: payoutId, provider_id: providerId }
            },
            { idempotencyKey: `payout_${payoutId}` }
          ),
        transferredOf
      ),

    transferOf: (payoutId) =>
      askFor(
        "transfer",
        () => stripe.transfers.list({ transfer_group: payoutId, limit: 1 }),
        ({ data: [transfer] }) => (transfer === undefined ? undefined : transferredOf(transfer))
      ),

    readEvent: (body, signature) => {
      if (settings.webhookSecret === undefined) {
        return Effect.fail(
          new PaymentsNotConfigured({ what: "events cannot be verified without STRIPE_WEBHOOK_SECRET" })
        )
      }
      const secret = Redacted.value(settings.webhookSecret)
      return Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
        Effect.try({
          try: () => readWebhook(stripe, secret, body, signature, nowMs),
          catch: (error) => new UntrustedEvent({ reason: faultOf(error) })
        })
      )
    }
  })
}

export const layer = (settings: StripeSettings): Layer.Layer<PaymentGateway> =>
  Layer.sync(PaymentGateway, () => make(settings))

const madeRefund = (refund: Stripe.Refund): Refunded => ({
  refundId: nameIn(refund.id),
  state: refundStateOf(refund.status)
})

/** A charge that has not been booked has none. */
const feeOf = ({ latest_charge: charge }: Stripe.PaymentIntent): Effect.Effect<number | undefined, PaymentFailed> => {
  if (charge === null || charge === undefined || typeof charge === "string") return Effect.undefined
  const booked = charge.balance_transaction
  if (booked === null || booked === undefined || typeof booked === "string") return Effect.undefined
  if (booked.currency !== CURRENCY) return unreadable("fee", `it was booked in ${booked.currency}, not in ${CURRENCY}`)
  return Number.isSafeInteger(booked.fee) && booked.fee >= 0
    ? Effect.succeed(booked.fee)
    : unreadable("fee", "its response names no amount")
}

const modeOf = (secretKey: string): "test" | "live" | undefined => {
  const kind = /_(?<mode>test|live)_/u.exec(secretKey)?.groups?.["mode"]
  return kind === "test" || kind === "live" ? kind : undefined
}

const paidIn = (events: ReadonlyArray<Stripe.Event>): ReadonlyArray<CheckoutStatus> =>
  events
    .map(eventOf)
    .flatMap((event) => (event._tag === "CheckoutChanged" && event.checkout.state === "paid" ? [event.checkout] : []))
