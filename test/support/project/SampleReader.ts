/**
 * What a reader of the API reference has who runs its samples: accounts, tools, calls and documents, made through the API. A dry
 * run has most of it; payout accounts need a payment processor.
 */
import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import { createHmac } from "node:crypto"
import { variablesIn } from "../../../adapters/site/kit/Samples.ts"
import { json, result, scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"
import { behind, bought, got, OPERATOR_KEY, posted } from "../market/HttpMarket.ts"
import { onboarded, paidMarket, WEBHOOK_SECRET } from "../market/PaidMarket.ts"
import { fine, onOther } from "../mcp/ADoor.ts"

export type Values = Readonly<Record<string, string>>

/** The samples of payout accounts, which a dry run does not have. */
const PAID = ["payouts.connect", "payouts.stripeWebhook", "operator.retryPayout"]

export class SampleReader extends Context.Service<
  SampleReader,
  {
    /** The service that the sample is sent to. */
    urlOf(operationId: string): string
    /** New values for the variables of a curl command or of the program beside it, after what must be done before it. */
    prepared(operationId: string, command: string): Effect.Effect<Values>
  }
>()("agent-tool-billing/test/support/SampleReader") {
  static readonly layer = Layer.effect(
    SampleReader,
    Effect.gen(function* () {
      const [dry, paid] = [yield* dryRun, yield* withProcessor]
      const at = (operationId: string) => (PAID.includes(operationId) ? paid : dry)
      return SampleReader.of({
        urlOf: (operationId) => at(operationId).url,
        prepared: Effect.fnUntraced(function* (operationId, command) {
          const { before, makers } = at(operationId)
          const values: Record<string, string> = {}
          for (const [name] of variablesIn(command)) values[name] = yield* makers[name]!(command)
          yield* before[operationId]?.(values) ?? Effect.void
          return values
        })
      })
    })
  )
}

interface World {
  readonly url: string
  /** New for each sample, so that none depends on another. */
  readonly makers: Readonly<Record<string, (command: string) => Effect.Effect<string>>>
  /** What must be so before the request makes sense. */
  readonly before: Readonly<Record<string, (values: Values) => Effect.Effect<unknown>>>
}

const TILE_RECEIPTS = 256

/** More than a month: the service starts in one that has ended. */
const DAYS_BEHIND = 40
const DAY_MS = 86_400_000

/** More than the least payout, after the fee. */
const DEAR = 15_000_000

/** In a dry run, with the documents of a month that has ended and a log of more than one tile. */
const dryRun: Effect.Effect<World, never, Scope.Scope> = Effect.gen(function* () {
  const { today, url } = yield* behind(DAYS_BEHIND, {
    DEMO_PROVIDER: "on",
    RATE_LIMIT_RPM: "0",
    RATE_LIMIT_IP_RPM: "0",
    RATE_LIMIT_REGISTER_RPM: "0"
  })
  const server = yield* scriptedServer({
    era: "modern",
    onCall: fine,
    onOther: (seen, response) => {
      if (seen.method !== "tools/list") return onOther!(seen, response)
      const tools = [{ name: "search", inputSchema: { type: "object" } }]
      json(response, result(seen, { resultType: "complete", tools, ttlMs: 60_000, cacheScope: "public" }))
      return true
    }
  })
  const api = `${url}/api/v1/market`
  const consumer = (name: string) =>
    posted(`${url}/api/market/register-consumer`, { name, email: "someone@example.org" })
  const provider = (name: string) =>
    posted(`${url}/api/market/register-provider`, { name, email: "ada@example.org", endpoint_url: server.url })
  const { api_key: consumerKey } = yield* consumer("Agent")
  const { api_key: providerKey } = yield* provider("Works")
  const [buying, selling] = [String(consumerKey), String(providerKey)]
  yield* posted(`${url}/api/market/balance/load`, { amount_cents: 100_000 }, buying)

  let made = 0
  const toolAt = (price: number) =>
    Effect.map(
      Effect.suspend(() =>
        posted(
          `${url}/api/market/tools`,
          { tools: [{ tool_name: `tool-${++made}`, price_microcents: price, unlisted: true }] },
          selling
        )
      ),
      ({ tools }) => String((tools as ReadonlyArray<{ readonly id: string }>)[0]!.id)
    )
  const aTool = toolAt(500)
  const callOf = Effect.fnUntraced(function* (toolId: string, key: string) {
    const { meta } = yield* posted(`${url}/api/market/proxy`, { tool_id: toolId, input: {} }, key)
    return String((meta as { readonly receipt_id: string }).receipt_id)
  })
  const aCall = Effect.flatMap(aTool, (toolId) => callOf(toolId, buying))
  const earning = Effect.gen(function* () {
    const rich = String((yield* consumer("Rich"))["api_key"])
    yield* posted(`${url}/api/market/balance/load`, { amount_cents: 5_000 }, rich)
    yield* callOf(yield* toolAt(DEAR), rich)
  })
  const aDispute = Effect.gen(function* () {
    const dispute = { receipt_id: yield* aCall, reason: "quality", description: "Wrong" }
    return String((yield* posted(`${api}/disputes`, dispute, buying))["dispute_id"])
  })
  const nested = (path: string, key: string, body: object, ...names: readonly [string, string]) =>
    Effect.map(posted(`${api}/${path}`, body, key), (answer) =>
      String((answer[names[0]] as Readonly<Record<string, unknown>>)[names[1]])
    )
  const aProviderId = Effect.map(provider("Other"), ({ provider_id: id }) => String(id))

  const month = new Date(Date.now() - DAYS_BEHIND * DAY_MS).toISOString().slice(0, 7)
  const tool = yield* aTool
  yield* Effect.forEach(Array.from({ length: TILE_RECEIPTS }), () => callOf(tool, buying), {
    concurrency: 8
  })
  yield* today
  yield* posted(`${api}/invoices/run`, { month }, OPERATOR_KEY)
  const [invoice] = (yield* got(`${api}/invoices`, buying))["invoices"] as ReadonlyArray<{
    readonly invoice_id: string
  }>
  yield* Effect.promise(async () => (await fetch(`${api}/log/tile/0/000`)).status).pipe(
    Effect.repeat({ until: (status) => status === 200, schedule: Schedule.spaced("50 millis") })
  )

  const makers: World["makers"] = {
    CONSUMER_KEY: () => Effect.succeed(buying),
    PROVIDER_KEY: () => Effect.succeed(selling),
    API_KEY: () => Effect.succeed(buying),
    OPERATOR_KEY: () => Effect.succeed(OPERATOR_KEY),
    PROVIDER_ID: () => aProviderId,
    CONSUMER_ID: () => Effect.map(consumer("Other"), ({ consumer_id: id }) => String(id)),
    TOOL_ID: () => aTool,
    KEY_ID: () => nested("keys", buying, {}, "key", "key_id"),
    RUN_ID: () =>
      Effect.map(posted(`${api}/runs`, { limit_microcents: 1_000 }, buying), ({ run_id: id }) => String(id)),
    RECEIPT_ID: () => aCall,
    DISPUTE_ID: () => aDispute,
    GRANT_ID: () =>
      Effect.flatMap(aProviderId, (provider_id) =>
        nested("grants", buying, { provider_id, cap_microcents: 5 }, "grant", "grant_id")
      ),
    BUDGET_ID: () =>
      nested("budgets", buying, { cap_microcents: 900_000_000_000, period: "day" }, "budget", "budget_id"),
    INVOICE_ID: () => Effect.succeed(invoice!.invoice_id)
  }

  const toolbox = ({ TOOL_ID }: Values) => posted(`${url}/api/market/toolbox`, { tools: [TOOL_ID] }, buying)
  const receiptInLog = ({ RECEIPT_ID }: Values) =>
    Effect.repeat(
      Effect.promise(async () => {
        const headers = { authorization: `Bearer ${buying}` }
        return (await fetch(`${api}/receipts/${RECEIPT_ID}/proof`, { headers })).status
      }),
      { until: (status) => status === 200 }
    )
  const before: World["before"] = {
    "toolbox.removeTool": toolbox,
    "toolbox.removeToolV1": toolbox,
    "log.proof": receiptInLog,
    "payouts.requestPayout": () => earning,
    "disputes.resolve": ({ DISPUTE_ID }) =>
      posted(`${api}/disputes/${DISPUTE_ID}/respond`, { action: "contest", message: "No" }, selling),
    "operator.unfreeze": ({ CONSUMER_ID }) =>
      posted(`${url}/api/v1/operator/consumers/${CONSUMER_ID}/freeze`, { reason: "A test" }, OPERATOR_KEY),
    "operator.unfreezeProvider": ({ PROVIDER_ID }) =>
      posted(`${url}/api/v1/operator/providers/${PROVIDER_ID}/freeze`, { reason: "A test" }, OPERATOR_KEY)
  }
  return { url, before, makers }
})

/** With payments through a double of the processor. */
const withProcessor: Effect.Effect<World, never, Scope.Scope> = Effect.gen(function* () {
  const { developer, double, seller, url } = yield* paidMarket
  const account = yield* onboarded(double, seller)
  const failedPayout = Effect.gen(function* () {
    yield* bought(url, developer, "search", 3)
    account.complete = false
    const payout = yield* posted(`${url}/api/market/payouts`, {}, seller.key)
    account.complete = true
    account.due = []
    yield* got(`${url}/api/market/connect`, seller.key)
    return String(payout["payout_id"])
  })
  const makers: World["makers"] = {
    OPERATOR_KEY: () => Effect.succeed(OPERATOR_KEY),
    PROVIDER_KEY: () => Effect.succeed(seller.key),
    PAYOUT_ID: () => failedPayout,
    STRIPE_SIGNATURE: (command) =>
      Effect.sync(() => {
        const body = /-d '(.*)'$/su.exec(command)![1]!
        const seconds = Math.floor(Date.now() / 1_000)
        return `t=${seconds},v1=${createHmac("sha256", WEBHOOK_SECRET).update(`${seconds}.${body}`).digest("hex")}`
      })
  }
  return { url, before: {}, makers }
})
