/**
 * A developer, a provider and an operator from zero, each with a clock: see `Person`.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { sdk2Server } from "../../support/mcp/servers/RealServers.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { Person } from "../../support/market/Person.ts"
import { post, ready } from "../../support/servers/ServiceProcess.ts"

const OPERATOR_KEY = "the-operator-of-the-personas-0123456789"
/** Browsers log rejected requests: the page asks whether there is a session. */
const unexpected = (complaints: ReadonlyArray<string>) => complaints.filter((one) => !/status of 401/u.test(one))

const SLOW = { timeout: 180_000 }

/** A new service, as the README starts it, in memory. */
const atHome = Effect.gen(function* () {
  const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error", OPERATOR_KEY, DEMO_PROVIDER: "on" })
  const { complaints, page } = yield* open(yield* browser, `${url}/`)
  return { complaints, person: new Person(page), url }
})

it.live.skipIf(!hasBrowser)(
  "a developer makes the first paid call within two minutes",
  () =>
    Effect.gen(function* () {
      const { complaints, person } = yield* atHome
      yield* person.sees("Register as a developer")
      yield* person.follows("Register as a developer")
      yield* person.types("Name", "My agent")
      yield* person.types("Email", "dev@example.org")
      yield* person.presses("Register")
      yield* person.sees(/^atb_c_/u)
      yield* person.follows("Open dashboard")
      yield* person.sees("Your balance is empty")
      yield* person.follows("Add funds")
      yield* person.presses("Add funds")
      yield* person.sees("$5.00")
      yield* person.follows("Catalog")
      yield* person.sees("Echo")
      yield* person.follows("Echo")
      yield* person.types("message", "hello")
      yield* person.presses(/^Call/u)
      yield* person.sees(/\$0\.0005.*Balance/u)
      assert.deepStrictEqual(unexpected(complaints), [])
      assert.isBelow(person.seconds, 120)
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "a provider lists the first tool within two minutes",
  () =>
    Effect.gen(function* () {
      const { complaints, person } = yield* atHome
      const search = { name: "search", description: "Finds papers", inputSchema: { type: "object" as const } }
      const server = yield* sdk2Server({ list: () => ({ tools: [search] }) })
      yield* person.sees("Register as a provider")
      yield* person.follows("Register as a provider")
      yield* person.types("Name", "Ada Tools")
      yield* person.types("Email", "ada@example.org")
      yield* person.types("MCP server URL", server.url)
      yield* person.presses("Register")
      yield* person.sees(/^atb_p_/u)
      yield* person.follows("Open dashboard")
      yield* person.sees("List a tool")
      yield* person.follows(/^Import/u)
      yield* person.sees("Import tools")
      yield* person.types("Price per call of new tools in dollars", "0.001")
      yield* person.presses("Preview import")
      yield* person.sees(/stored as/u)
      yield* person.presses("Import tools")
      yield* person.sees("Draft")
      yield* person.presses("List search")
      yield* person.sees("per call")
      yield* person.presses("List tool")
      yield* person.sees("search is listed.")
      assert.deepStrictEqual(unexpected(complaints), [])
      assert.isBelow(person.seconds, 120)
    }).pipe(Effect.scoped),
  SLOW
)

it.live.skipIf(!hasBrowser)(
  "an operator decides the first dispute within three minutes",
  () =>
    Effect.gen(function* () {
      const { complaints, person, url } = yield* atHome
      yield* aContestedDispute(url)
      yield* Effect.promise(() => person.page.goto(`${url}/operator`))
      yield* person.types("Your name", "Olga")
      yield* person.pastes("Operator key", OPERATOR_KEY)
      yield* person.presses("Sign in")
      yield* person.sees("All spendable money is backed")
      yield* person.follows("Disputes")
      yield* person.sees("It found another paper.")
      yield* person.follows(/\d{4}, \d/u)
      yield* person.sees("It found what was asked for.")
      yield* person.chooses("Decision", "Refund: the provider was at fault")
      yield* person.types("Reason", "The tool returned another text.")
      yield* person.presses(/^Decide/u)
      yield* person.presses("Refund")
      yield* person.sees("Dispute decided.")
      assert.deepStrictEqual(unexpected(complaints), [])
      assert.isBelow(person.seconds, 180)
    }).pipe(Effect.scoped),
  SLOW
)

/** A developer disputes a call, and its provider does not agree. */
const aContestedDispute = Effect.fnUntraced(function* (url: string) {
  const server = yield* providing(fine)
  const api = (path: string, body: object, key?: string) => post(`${url}${path}`, body, key)
  const provider = yield* api("/api/market/register-provider", {
    name: "Ada Tools",
    email: "ada@example.org",
    endpoint_url: server.url,
    tools: [{ tool_name: "search", price_microcents: 20_000, free_tier_calls: 0, unlisted: true }]
  })
  const { body: developer } = yield* api("/api/market/register-consumer", { name: "Dev", email: "dev@example.org" })
  const key = String(developer["api_key"])
  yield* api("/api/market/balance/load", { amount_cents: 500 }, key)
  const called = yield* api("/api/market/proxy", { tool_name: "search", input: {} }, key)
  const { receipt_id } = called.body["meta"] as { readonly receipt_id: string }
  const filing = { receipt_id, reason: "quality", description: "It found another paper." }
  const filed = yield* api("/api/v1/market/disputes", filing, key)
  const answer = { action: "contest", message: "It found what was asked for." }
  const path = `/api/v1/market/disputes/${String(filed.body["dispute_id"])}/respond`
  const { status } = yield* api(path, answer, String(provider.body["api_key"]))
  assert.strictEqual(status, 200)
})
