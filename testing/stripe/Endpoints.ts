/**
 * What the double does for each request of Stripe's API.
 */
import { nowSeconds, type Refund, type State, type Transfer, type Account } from "./State.ts"
import { StripeRefusal } from "./Refusal.ts"
import type { Webhooks } from "./Webhooks.ts"

export interface Asked {
  readonly state: State
  readonly webhooks: Webhooks
  readonly accountId: string
  readonly origin: string
  /** The parameters of the path. */
  readonly ids: ReadonlyArray<string>
  readonly query: URLSearchParams
  readonly body: Body
}

/** A form or a JSON document: any value is a text, a part with members, or absent. */
type Body = string & { readonly [name: string]: Body; readonly [index: number]: Body }

type Endpoint = readonly [method: string, pattern: RegExp, answer: (asked: Asked) => unknown]

const SESSION_SECONDS = 86_400

const found = <A>(map: ReadonlyMap<string, A>, id: string | undefined, what: string): A => {
  const one = map.get(id ?? "")
  if (one === undefined) {
    throw new StripeRefusal(404, "invalid_request_error", `No such ${what}: '${id}'`, "resource_missing")
  }
  return one
}

const list = (url: string, data: ReadonlyArray<unknown>, limit: number) => ({
  object: "list",
  url,
  has_more: data.length > limit,
  data: data.slice(0, limit)
})

const limitOf = (query: URLSearchParams): number => Math.min(100, Number(query.get("limit") ?? 10))

const amountOf = (text: unknown, what: string): number => {
  const amount = Number(text)
  if (!Number.isInteger(amount) || amount <= 0) {
    throw new StripeRefusal(400, "invalid_request_error", `Invalid ${what}`, "parameter_invalid_integer")
  }
  return amount
}

const createSession = ({ body, origin, state, webhooks }: Asked) => {
  webhooks.learnFrom(body.success_url)
  const id = state.id("cs_test")
  const price = body.line_items?.[0]?.price_data
  if (body.mode !== "payment" || price === undefined) {
    throw new StripeRefusal(400, "invalid_request_error", "Only payment mode with price_data is known here")
  }
  const created = nowSeconds()
  state.sessions.set(id, {
    id,
    object: "checkout.session",
    amount_total: amountOf(price.unit_amount, "integer: unit_amount") * Number(body.line_items?.[0]?.quantity ?? 1),
    cancel_url: body.cancel_url ?? null,
    client_reference_id: body.client_reference_id ?? null,
    created,
    currency: price.currency ?? null,
    expires_at: created + SESSION_SECONDS,
    livemode: false,
    metadata: { ...(body.metadata as object | undefined), ...prefixed(body.payment_intent_data?.metadata) },
    mode: "payment",
    payment_status: "unpaid",
    status: "open",
    success_url: body.success_url ?? null,
    url: `${origin}/pay/${id}`,
    payment_intent: null
  })
  return state.sessions.get(id)
}

/** A payment has its own metadata; the double stores it with the session until there is a payment. */
const prefixed = (metadata: Readonly<Record<string, string>> | undefined) =>
  Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [`payment:${name}`, value]))

const createAccount = ({ body, state }: Asked) => {
  const id = state.id("acct")
  const account: Account = {
    id,
    object: "v2.core.account",
    applied_configurations: ["recipient"],
    created: new Date().toISOString(),
    display_name: body.display_name ?? "",
    livemode: false,
    metadata: body.metadata ?? {},
    contact_email: body.contact_email ?? "",
    complete: false,
    due: ["identity.individual.given_name", "external_account"]
  }
  state.accounts.set(id, account)
  return accountShown(account)
}

const accountShown = ({ complete, due, ...account }: Account) => ({
  ...account,
  configuration: {
    recipient: {
      applied: true,
      capabilities: {
        stripe_balance: { stripe_transfers: { status: complete ? "active" : "restricted", status_details: [] } }
      }
    }
  },
  requirements: {
    entries: due.map((description) => ({
      awaiting_action_from: "user",
      description,
      errors: [],
      impact: {},
      minimum_deadline: { status: "currently_due" },
      requested_reasons: []
    }))
  }
})

const createLink = ({ body, origin, state, webhooks }: Asked) => {
  webhooks.learnFrom(body.use_case?.account_onboarding?.return_url)
  const account = found(state.accounts, body.account, "account")
  const token = state.id("link")
  const returnUrl: string = body.use_case?.account_onboarding?.return_url ?? origin
  state.links.set(token, { account: account.id, returnUrl })
  return {
    object: "v2.core.account_link",
    account: account.id,
    created: new Date().toISOString(),
    expires_at: new Date(Date.now() + 300_000).toISOString(),
    livemode: false,
    url: `${origin}/onboard/${token}`,
    use_case: body.use_case
  }
}

const createTransfer = ({ body, state, webhooks }: Asked) => {
  const account = found(state.accounts, body.destination, "destination")
  if (!account.complete) {
    const message = "Your destination account needs to have the stripe_transfers capability enabled."
    throw new StripeRefusal(400, "invalid_request_error", message, "insufficient_capabilities_for_transfer")
  }
  const transfer: Transfer = {
    id: state.id("tr"),
    object: "transfer",
    amount: amountOf(body.amount, "integer: amount"),
    amount_reversed: 0,
    created: nowSeconds(),
    currency: body.currency ?? "",
    livemode: false,
    metadata: body.metadata ?? {},
    reversed: false,
    transfer_group: body.transfer_group ?? null,
    destination: account.id
  }
  state.transfers.set(transfer.id, transfer)
  webhooks.snapshot("transfer.created", transfer)
  return transfer
}

const createReversal = ({ body, ids, state, webhooks }: Asked) => {
  const transfer = found(state.transfers, ids[0], "transfer")
  const left = transfer.amount - transfer.amount_reversed
  const amount = body.amount === undefined ? left : amountOf(body.amount, "integer: amount")
  if (amount > left) throw new StripeRefusal(400, "invalid_request_error", "More than is left of the transfer")
  transfer.amount_reversed += amount
  transfer.reversed = transfer.amount_reversed === transfer.amount
  webhooks.snapshot("transfer.reversed", transfer)
  return { id: state.id("trr"), object: "transfer_reversal", amount, transfer: transfer.id, created: nowSeconds() }
}

const paymentIntent = ({ ids, query, state }: Asked) => {
  const payment = found(state.payments, ids[0], "payment_intent")
  if (query.get("expand[0]") !== "latest_charge.balance_transaction") return payment
  const balance_transaction = {
    id: `txn_${payment.id}`,
    object: "balance_transaction",
    currency: payment.currency,
    fee: state.feeOf(payment.amount)
  }
  return { ...payment, latest_charge: { id: `ch_${payment.id}`, object: "charge", balance_transaction } }
}

const createRefund = ({ body, state, webhooks }: Asked) => {
  const payment = found(state.payments, body.payment_intent, "payment_intent")
  if ([...state.disputes.values()].some((one) => one.payment_intent === payment.id && one.status !== "won")) {
    throw new StripeRefusal(400, "invalid_request_error", "This charge has been charged back", "charge_disputed")
  }
  const amount = body.amount === undefined ? payment.amount : amountOf(body.amount, "integer: amount")
  const before = [...state.refunds.values()].filter(
    (one) => one.payment_intent === payment.id && one.status !== "failed"
  )
  if (before.reduce((sum, one) => sum + one.amount, amount) > payment.amount) {
    throw new StripeRefusal(400, "invalid_request_error", "More than is left of the charge")
  }
  const refund: Refund = {
    id: state.id("re"),
    object: "refund" as const,
    amount,
    created: nowSeconds(),
    currency: payment.currency,
    metadata: body.metadata ?? {},
    status: "succeeded" as const,
    payment_intent: payment.id
  }
  state.refunds.set(refund.id, refund)
  webhooks.snapshot("refund.created", refund)
  return refund
}

/** Snapshot events, newest first. */
const listEvents = ({ query, webhooks }: Asked) => {
  const since = Number(query.get("created[gte]") ?? 0)
  const types = [...query].filter(([name]) => name.startsWith("types[")).map(([, type]) => type)
  const events = webhooks.sent
    .map(({ body }) => JSON.parse(body))
    .filter(({ created, object, type }) => object === "event" && created >= since && types.includes(type))
    .toReversed()
  const after = events.findIndex(({ id }) => id === query.get("starting_after"))
  return list("/v1/events", events.slice(after + 1), limitOf(query))
}

export const endpoints: ReadonlyArray<Endpoint> = [
  ["GET", /^\/v1\/events$/u, listEvents],
  ["POST", /^\/v1\/checkout\/sessions$/u, createSession],
  [
    "GET",
    /^\/v1\/checkout\/sessions$/u,
    ({ query, state }) => list("/v1/checkout/sessions", [...state.sessions.values()].toReversed(), limitOf(query))
  ],
  [
    "GET",
    /^\/v1\/checkout\/sessions\/([^/]+)$/u,
    ({ ids, state }) => found(state.sessions, ids[0], "checkout.session")
  ],
  [
    "POST",
    /^\/v1\/checkout\/sessions\/([^/]+)\/expire$/u,
    ({ ids, state, webhooks }) => {
      const session = found(state.sessions, ids[0], "checkout.session")
      if (session.status !== "open") throw new StripeRefusal(400, "invalid_request_error", "Only open sessions expire")
      session.status = "expired"
      session.url = null
      webhooks.snapshot("checkout.session.expired", session)
      return session
    }
  ],
  ["GET", /^\/v1\/payment_intents\/([^/]+)$/u, paymentIntent],
  ["POST", /^\/v1\/refunds$/u, createRefund],
  [
    "GET",
    /^\/v1\/refunds$/u,
    ({ query, state }) => {
      const payment = query.get("payment_intent")
      const all = [...state.refunds.values()].filter((one) => payment === null || one.payment_intent === payment)
      return list("/v1/refunds", all, limitOf(query))
    }
  ],
  ["POST", /^\/v1\/transfers$/u, createTransfer],
  [
    "GET",
    /^\/v1\/transfers$/u,
    ({ query, state }) => {
      const group = query.get("transfer_group")
      const all = [...state.transfers.values()].toReversed()
      return list(
        "/v1/transfers",
        group === null ? all : all.filter((one) => one.transfer_group === group),
        limitOf(query)
      )
    }
  ],
  ["GET", /^\/v1\/transfers\/([^/]+)$/u, ({ ids, state }) => found(state.transfers, ids[0], "transfer")],
  ["POST", /^\/v1\/transfers\/([^/]+)\/reversals$/u, createReversal],
  ["GET", /^\/v1\/account$/u, ({ accountId }) => ({ id: accountId, object: "account", livemode: false })],
  ["GET", /^\/v1\/balance$/u, () => ({ object: "balance", livemode: false, available: [], pending: [] })],
  ["POST", /^\/v2\/core\/accounts$/u, createAccount],
  [
    "GET",
    /^\/v2\/core\/accounts\/([^/]+)$/u,
    ({ ids, state }) => accountShown(found(state.accounts, ids[0], "account"))
  ],
  ["POST", /^\/v2\/core\/account_links$/u, createLink]
]
