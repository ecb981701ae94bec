/**
 * Money that moves while calls are made: loads through a double of the payment processor, payouts of the provider, and disputes
 * that end in refunds. Each request is repeated until the service answers it, by the same key.
 */
import { Effect, Fiber, Schedule } from "effect"
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"
import { json, post } from "../servers/ServiceProcess.ts"
import type { Acknowledged } from "./CallLoad.ts"
import type { LoadMarket } from "./LoadMarket.ts"

const KEYS = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }
const PAUSE = "100 millis"

/** Of a service whose payments go to the double, and mature at once. */
export const settingsOf = (double: StripeDouble) => ({
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY: KEYS.secretKey,
  STRIPE_WEBHOOK_SECRET: KEYS.webhookSecret,
  STRIPE_API_BASE: double.url,
  PAYOUT_DELAY_DAYS: "0",
  PAYOUT_DELAY_DAYS_NEW: "0",
  RESERVE_PERCENT: "0",
  NEW_ACCOUNT_LOAD_CENTS_PER_DAY: "0"
})

/** Its events are held until `deliveries` passes them on. */
export const aDouble = Effect.acquireRelease(
  Effect.promise(async () => {
    const started = await StripeDouble.start(KEYS)
    started.webhooks.holding = true
    return started
  }),
  (started) => Effect.promise(() => started.stop())
)

/** Names the loads of a run. */
let runs = 0

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Repeats a request until its answer is final: neither an outage nor the same request still in flight. */
const answered = (request: Effect.Effect<Answer>) =>
  Effect.catchDefect(request, () => Effect.succeed<Answer>({ status: 0, body: {} })).pipe(
    Effect.repeat({
      until: ({ body, status }) => status > 0 && status < 500 && body["code"] !== "IDEMPOTENCY_CONFLICT",
      schedule: Schedule.spaced(PAUSE)
    })
  )

/** Passes the events of the double on, each until the service accepts it. */
export const deliveries = ({ webhooks }: StripeDouble, url: string) => {
  webhooks.goTo(`${url}/api/webhooks/stripe`)
  const delivered = Effect.suspend(() => {
    const [event] = webhooks.held
    if (event === undefined) return Effect.sleep(PAUSE)
    return Effect.promise(() => webhooks.deliver(event).catch(() => 0)).pipe(
      Effect.repeat({ until: (status) => status >= 200 && status < 300, schedule: Schedule.spaced(PAUSE) }),
      Effect.andThen(Effect.sync(() => webhooks.held.shift()))
    )
  })
  return Effect.forkScoped(Effect.forever(delivered))
}

/** One load, ordered and paid once, however often it has to be asked for. */
export const paidLoad = Effect.fnUntraced(function* (
  double: StripeDouble,
  {
    cents,
    key,
    name,
    url
  }: { readonly cents: number; readonly key: string; readonly name: string; readonly url: string }
) {
  const { body } = yield* answered(
    json(`${url}/api/market/balance/load`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "idempotency-key": name },
      body: JSON.stringify({ amount_cents: cents })
    })
  )
  const session = body["session_id"]
  if (typeof session !== "string") return yield* Effect.die(new Error(`${name}: ${JSON.stringify(body)}`))
  double.pay(session)
})

/** What the double and the answers say of the money that was moved. */
export interface Moved {
  loads: number
  refunds: number
  readonly answers: Map<string, number>
  /** Answers that no failure explains. */
  readonly unclean: Array<string>
}

export interface MoneyLoad {
  readonly moved: Moved
  /** Ends when what was begun is done. */
  readonly stop: Effect.Effect<void>
}

/** Loads of every consumer in turn, payouts as soon as there is enough, and a dispute of every tenth acknowledged call. */
export const moneyLoad = Effect.fnUntraced(function* (
  double: StripeDouble,
  market: LoadMarket,
  url: string,
  acknowledged: ReadonlyArray<Acknowledged>
) {
  const moved: Moved = { loads: 0, refunds: 0, answers: new Map(), unclean: [] }
  const run = ++runs
  let isOver = false
  const isExpected = ({ body, status }: Answer, ...codes: ReadonlyArray<string>) => {
    const named = `${status} ${status < 300 ? "" : String(body["code"])}`
    moved.answers.set(named, (moved.answers.get(named) ?? 0) + 1)
    if (status < 300 || codes.includes(String(body["code"]))) return
    moved.unclean.push(`${status} ${JSON.stringify(body).slice(0, 300)}`)
  }

  const load = Effect.suspend(() => {
    const buyer = moved.loads++ % market.buyers.length
    return paidLoad(double, { cents: 100, key: market.buyers[buyer]!, name: `load-${run}-${moved.loads}`, url })
  })

  const payout = Effect.map(answered(post(`${url}/api/market/payouts`, {}, market.providerKey)), (answer) =>
    isExpected(answer, "BELOW_MINIMUM")
  )

  let next = acknowledged.length
  const dispute = Effect.gen(function* () {
    const call = acknowledged[next]
    if (call === undefined) return
    next += 10
    const [, , connection] = call.call.split("-")
    const buyer = market.buyers[Number(connection) % market.buyers.length]
    const filing = { receipt_id: call.receiptId, reason: "quality" }
    const answer = yield* answered(post(`${url}/api/v1/market/disputes`, filing, buyer))
    // An account files twenty a day.
    isExpected(answer, "DUPLICATE", "RATE_LIMITED")
    if (answer.status === 429) return
    const { body } = yield* answered(
      json(`${url}/api/v1/market/disputes?limit=1`, { headers: { authorization: `Bearer ${buyer}` } })
    )
    const [filed] = body["disputes"] as ReadonlyArray<{ readonly dispute_id: string }>
    const accepted = yield* answered(
      post(`${url}/api/v1/market/disputes/${filed!.dispute_id}/respond`, { action: "accept" }, market.providerKey)
    )
    isExpected(accepted, "DUPLICATE")
    moved.refunds++
  })

  const each = (step: Effect.Effect<void>) =>
    Effect.whileLoop({ while: () => !isOver, body: () => Effect.andThen(step, Effect.sleep(PAUSE)), step: () => {} })
  const all = yield* Effect.forkScoped(Effect.all([each(load), each(payout), each(dispute)], { concurrency: 3 }))
  const money: MoneyLoad = {
    moved,
    stop: Effect.suspend(() => {
      isOver = true
      return Effect.asVoid(Fiber.join(all))
    })
  }
  return money
})
