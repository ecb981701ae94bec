/**
 * The examples of the API reference: the curl commands run as shown on a new service and succeed, with the variables set as the
 * page says, and the TypeScript programs compile.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { openApiDocument } from "../../adapters/http/openapi/OpenApiDocument.ts"
import { operationsOf } from "../../adapters/http/openapi/OpenApiModel.ts"
import { typeScriptExample } from "../../adapters/site/docs/TypeScriptExample.ts"
import { curlExample, SAMPLE_IDS, variablesIn } from "../../adapters/site/kit/CurlExample.ts"
import { json, result, scriptedServer } from "../../testing/mcp/ScriptedServer.ts"
import { OPERATOR_KEY } from "../support/EndpointTable.ts"
import { got, posted } from "../support/HttpMarket.ts"
import { fine, onOther } from "../support/mcp/ADoor.ts"
import { ready } from "../support/ServiceProcess.ts"
import { SourcePackage } from "../support/SourcePackage.ts"

const hasCurl = spawnSync("curl", ["--version"]).status === 0
const SHELL_MS_MAX = 60_000

/** What a new service without a payment processor does not have. Each is checked to fail, so that none stays here without need. */
const NOT_HERE: Readonly<Record<string, readonly [status: string, why: string]>> = {
  "payouts.connect": ["503", "needs a payment processor"],
  "payouts.stripeWebhook": ["503", "needs a payment processor, which signs it"],
  "operator.retryPayout": ["404", "needs a payout that the payment processor failed"],
  "invoices.find": ["404", "the first document is made when a month has ended"],
  "invoices.credit": ["404", "the first document is made when a month has ended"],
  "log.tile": ["404", "a tile is full, and stays, from 256 receipts on"],
  "log.tileOf": ["404", "a tile is full, and stays, from 256 receipts on"]
}

type Values = Readonly<Record<string, string>>

/** More than the least payout, after the fee. */
const DEAR = 15_000_000

/** Accounts as the pages register them, with a server of the provider's own, and makers of everything that a sample names. */
const world = Effect.fnUntraced(function* (url: string) {
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

  /** New for each sample, so that none depends on another. */
  const makers: Readonly<Record<string, () => Effect.Effect<string, never, never>>> = {
    CONSUMER_KEY: () => Effect.succeed(buying),
    PROVIDER_KEY: () => Effect.succeed(selling),
    API_KEY: () => Effect.succeed(buying),
    OPERATOR_KEY: () => Effect.succeed(OPERATOR_KEY),
    PROVIDER_ID: () => aProviderId,
    CONSUMER_ID: () => Effect.map(consumer("Other"), ({ consumer_id: id }) => String(id)),
    TOOL_ID: () => aTool,
    KEY_ID: () => nested("keys", buying, {}, "key", "key_id"),
    RECEIPT_ID: () => aCall,
    DISPUTE_ID: () => aDispute,
    GRANT_ID: () =>
      Effect.flatMap(aProviderId, (provider_id) =>
        nested("grants", buying, { provider_id, cap_microcents: 5 }, "grant", "grant_id")
      ),
    BUDGET_ID: () =>
      nested("budgets", buying, { cap_microcents: 900_000_000_000, period: "day" }, "budget", "budget_id"),
    INVOICE_ID: () => Effect.succeed(SAMPLE_IDS.find(([, name]) => name === "INVOICE_ID")![0]),
    PAYOUT_ID: () => Effect.succeed(SAMPLE_IDS.find(([, name]) => name === "PAYOUT_ID")![0])
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
  /** What must be so before the request makes sense. */
  const before: Readonly<Record<string, (values: Values) => Effect.Effect<unknown>>> = {
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
  // The log has leaves for its samples.
  yield* receiptInLog({ RECEIPT_ID: yield* aCall })
  yield* receiptInLog({ RECEIPT_ID: yield* aCall })
  yield* got(`${api}/receipts`, buying)
  return { before, makers }
})

const run = (sample: string, env: Values) =>
  Effect.callback<{ readonly status: string; readonly body: string }>((resume) => {
    const script = `curl() { command curl -s --max-time 30 --write-out '\\n%{http_code}' "$@"; }\n${sample}`
    const given = { PATH: process.env["PATH"], ...env }
    const child = execFile("bash", ["-euc", script], { env: given, timeout: SHELL_MS_MAX }, (_, stdout) =>
      resume(Effect.succeed({ status: stdout.slice(-3), body: stdout.slice(0, 300) }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

it.live.skipIf(!hasCurl)(
  "every curl command succeeds on a new service",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({
        PROFILE: "memory",
        DEMO_PROVIDER: "on",
        LOG_LEVEL: "Error",
        OPERATOR_KEY,
        RATE_LIMIT_RPM: "0",
        RATE_LIMIT_IP_RPM: "0",
        RATE_LIMIT_REGISTER_RPM: "0"
      })
      const { before, makers } = yield* world(url)
      const wrong: Array<string> = []
      for (const located of operationsOf(openApiDocument(url))) {
        const { operationId } = located.operation
        const sample = curlExample(located, url)
        const values: Record<string, string> = {}
        for (const [name] of variablesIn(sample)) values[name] = yield* makers[name]!()
        yield* before[operationId]?.(values) ?? Effect.void
        const { body, status } = yield* run(sample, values)
        const expected = NOT_HERE[operationId]?.[0] ?? "2.."
        if (!new RegExp(`^${expected}$`, "u").test(status)) wrong.push(`${operationId}: ${status} ${body}`)
      }
      assert.deepStrictEqual(wrong, [])
    }),
  400_000
)

it.layer(SourcePackage.layer)("the TypeScript programs", (it) => {
  it.effect(
    "compile",
    () =>
      Effect.gen(function* () {
        const app = yield* SourcePackage
        const operations = operationsOf(openApiDocument("https://billing.example.org"))
        for (const located of operations) {
          const name = located.operation.operationId.replace(".", "-")
          yield* app.write(`${name}.ts`, typeScriptExample(located, "https://billing.example.org"))
        }
        assert.deepStrictEqual(yield* app.typeCheck, { code: 0, output: "" })
      }),
    400_000
  )
})
