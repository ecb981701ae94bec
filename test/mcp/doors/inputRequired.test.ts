/**
 * Tools that ask for input, through the door of a provider: the hold stays between the legs of a call, one settlement ends
 * it, and a state is accepted once, from its own account and for its own tool. A call that is abandoned is voided.
 */
import { assert, it } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { type Answer, json, result, rpcError, text } from "../../../testing/mcp/ScriptedServer.ts"
import { behind, got } from "../../support/market/HttpMarket.ts"
import { aFundedConsumer, posted, PRICE, walletOf } from "../../support/load/LoadMarket.ts"
import { aDoor as anyDoor, LOADED, onOther, SETTINGS } from "../../support/mcp/ADoor.ts"
import {
  type Answered,
  ask,
  at,
  billingOf,
  errorCode,
  type Json,
  opened,
  textOf
} from "../../support/mcp/DoorClient.ts"
import { aClientOf } from "../../support/mcp/EitherEra.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import { strangerMarket } from "../../support/mcp/StrangerMarket.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { scriptedServer } from "../../../testing/mcp/ScriptedServer.ts"

const MODERN = "2026-07-28"
const QUESTION = { who: { method: "elicitation/create", params: { mode: "form", message: "Who?", n: 1.5 } } }
const ANSWERS = { who: { action: "accept", content: { name: "Ada" } } }

/** Asks so often, with a state of its own, and then answers. */
const asking =
  (times: number): Answer =>
  (seen, response) => {
    const leg = Number(String(seen.params["requestState"] ?? "theirs 0").slice("theirs ".length))
    json(
      response,
      result(
        seen,
        leg < times
          ? { resultType: "input_required", inputRequests: QUESTION, requestState: `theirs ${leg + 1}` }
          : { resultType: "complete", ...text("done") }
      )
    )
  }

const stateOf = (answer: Answered): string => {
  assert.strictEqual(at(answer.body, "result", "resultType"), "input_required", answer.text)
  return String(at(answer.body, "result", "requestState"))
}

const ELICITS = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } }

/** Its client can be asked. */
const aDoor = (onCall: Answer) =>
  Effect.map(anyDoor(onCall), (door) => {
    const send: typeof door.send = (asked) => door.send({ ...asked, meta: { ...ELICITS, ...asked.meta } })
    const call: typeof door.call = (args, meta) => door.call(args, { ...ELICITS, ...meta })
    return { ...door, send, call }
  })

type Door = Effect.Success<ReturnType<typeof aDoor>>

const continued = ({ send }: Pick<Door, "send">, requestState: string, more: Json = {}) =>
  send({
    method: "tools/call",
    params: { name: "echo", arguments: {}, inputResponses: ANSWERS, requestState, ...more }
  })

const receiptsOf = ({ base, key }: Pick<Door, "base" | "key">) =>
  Effect.map(
    got(`${base}/api/v1/market/receipts?limit=100`, key),
    ({ receipts }) => receipts as ReadonlyArray<Readonly<Record<string, unknown>>>
  )

const rejectedWith = (answer: Answered, message: RegExp): void => {
  assert.deepStrictEqual(errorCode(answer), [200, -32_602], answer.text)
  assert.match(String(at(answer.body, "error", "message")), message)
}

it.layer(RawHttp.layer(SETTINGS), LIVE)("A tool that asks for input", (it) => {
  it.effect("keeps its hold between two legs, and is one call with one receipt and one settlement", () =>
    Effect.gen(function* () {
      const door = yield* aDoor(asking(2))
      const first = yield* door.call()
      assert.deepStrictEqual(at(first.body, "result", "inputRequests"), QUESTION)
      assert.notInclude(first.text, "theirs", "the provider's own state is sealed")
      const second = yield* continued(door, stateOf(first))
      for (const _ of [first, second]) assert.deepStrictEqual(yield* door.wallet, { balance: LOADED, held: PRICE })
      assert.lengthOf(yield* receiptsOf(door), 0)
      const last = yield* continued(door, stateOf(second))
      assert.strictEqual(textOf(last), "done")
      assert.strictEqual(at(billingOf(last), "cost_microcents"), PRICE)
      assert.strictEqual(at(billingOf(last), "receipt_id"), first.headers.get("x-market-receipt"))
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED - PRICE, held: 0 })
      assert.lengthOf(yield* receiptsOf(door), 1)
      assert.deepStrictEqual(
        door.server.of("tools/call").map(({ params }) => [params["requestState"], params["inputResponses"]]),
        [
          [undefined, undefined],
          ["theirs 1", ANSWERS],
          ["theirs 2", ANSWERS]
        ]
      )
    })
  )

  it.effect("accepts a state once: ten requests at a time and later ones are one leg", () =>
    Effect.gen(function* () {
      const door = yield* aDoor(asking(1))
      const state = stateOf(yield* door.call())
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => continued(door, state)),
        { concurrency: "unbounded" }
      )
      const [done, refused] = [
        answers.filter((answer) => billingOf(answer) !== undefined),
        answers.filter((answer) => billingOf(answer) === undefined)
      ]
      assert.lengthOf(done, 1)
      for (const answer of [...refused, yield* continued(door, state)]) {
        rejectedWith(answer, /This `requestState` was used before.*Nothing was charged for this request/u)
      }
      assert.lengthOf(door.server.of("tools/call"), 2)
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED - PRICE, held: 0 })
    })
  )

  it.effect("rejects the state of another account, another tool, other arguments, and a changed one", () =>
    Effect.gen(function* () {
      const door = yield* aDoor(asking(1))
      const tools = [{ tool_name: "hidden", price_microcents: 1 }]
      yield* posted(`${door.base}/api/market/tools`, { tools }, door.providerKey)
      const state = stateOf(yield* door.call())
      const thief = yield* aFundedConsumer(door.base, 100)
      const before = door.server.seen.length
      const stolen = ask({
        url: door.url,
        key: thief,
        method: "tools/call",
        params: { name: "echo", arguments: {}, inputResponses: ANSWERS, requestState: state }
      })
      rejectedWith(yield* stolen, /was not issued for this account and this tool/u)
      rejectedWith(yield* continued(door, state, { name: "hidden" }), /was not issued for this account and this tool/u)
      const middle = Math.floor(state.length / 2)
      const changed = `${state.slice(0, middle)}${state[middle] === "A" ? "B" : "A"}${state.slice(middle + 1)}`
      rejectedWith(yield* continued(door, changed), /was not issued .*or was changed/u)
      rejectedWith(yield* continued(door, state, { arguments: { to: "a thief" } }), /The `arguments` differ/u)
      assert.lengthOf(door.server.seen, before, "nothing reaches the provider")
      assert.deepStrictEqual(yield* walletOf(door.base, thief), { balance: LOADED, held: 0 })
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED, held: PRICE })
      assert.strictEqual(textOf(yield* continued(door, state)), "done", "its own account goes on")
    })
  )

  it.effect("ends as an error where its client disconnected before the question, and costs nothing", () =>
    Effect.gen(function* () {
      let ask: (() => void) | undefined
      const door = yield* aDoor((seen, response, n) => {
        ask = () => asking(1)(seen, response, n)
      })
      const hangUp = new AbortController()
      const params = { name: "echo", arguments: {} }
      const sent = opened({ url: door.url, key: door.key, method: "tools/call", params, signal: hangUp.signal })
      yield* Effect.forkChild(Effect.exit(sent))
      yield* eventually(() => ask !== undefined)
      hangUp.abort()
      // The service has noticed by then: it answers others.
      yield* Effect.repeat(receiptsOf(door), { times: 3 })
      yield* Effect.sleep("300 millis")
      ask!()
      for (let held = PRICE; held !== 0;) {
        yield* Effect.sleep("50 millis")
        ;({ held } = yield* door.wallet)
      }
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED, held: 0 })
      const [receipt] = yield* receiptsOf(door)
      assert.strictEqual(receipt!["cost_microcents"], 0)
    })
  )

  it.effect(
    "passes -32021 of a server that needs a capability which the client did not declare; it costs nothing",
    () =>
      Effect.gen(function* () {
        const data = { requiredCapabilities: { sampling: {} } }
        const door = yield* aDoor((seen, response) =>
          json(response, rpcError(seen, -32_021, "Missing required client capability", data), 400)
        )
        const answer = yield* door.call()
        assert.deepStrictEqual(errorCode(answer), [400, -32_021])
        assert.deepStrictEqual(at(answer.body, "error", "data"), data)
        assert.deepStrictEqual(yield* door.wallet, { balance: LOADED, held: 0 })

        const { client: api, door: url, key } = yield* strangerMarket(100)
        const params = { name: "test_missing_capability", arguments: {} }
        const real = yield* ask({ url, key, method: "tools/call", params })
        assert.deepStrictEqual(errorCode(real), [400, -32_021], real.text)
        const balance = yield* Effect.promise(() => api.money.balance())
        assert.strictEqual(Number(balance.balance_microcents), 100 * 10_000)
      })
  )

  it.effect("is told that its client takes no questions while 16 calls wait, so that ordinary calls run", () =>
    Effect.gen(function* () {
      const capabilities = "io.modelcontextprotocol/clientCapabilities"
      const told = (seen: Parameters<Answer>[0]) => at(seen.params, "_meta", capabilities) as Json
      const door = yield* aDoor((...given) => asking("elicitation" in told(given[0]) ? 1 : 0)(...given))
      const declared = { elicitation: { form: {} }, x: 1.5, extensions: { "io.modelcontextprotocol/tasks": {} } }
      const call = door.call({}, { [capabilities]: declared })
      for (let n = 0; n < 16; n++) stateOf(yield* call)
      const more = yield* Effect.forEach(Array.from({ length: 8 }), () => call, { concurrency: "unbounded" })
      for (const answer of more) assert.strictEqual(textOf(answer), "done")
      assert.deepStrictEqual(told(door.server.of("tools/call").at(-1)!), { x: 1.5, extensions: {} })
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED - 8 * PRICE, held: 16 * PRICE })
      assert.deepStrictEqual(new Set((yield* receiptsOf(door)).map(({ status }) => status)), new Set(["success"]))
    })
  )

  it.effect("ends as an error for a client of the legacy era, which cannot be asked; it costs nothing", () =>
    Effect.gen(function* () {
      const door = yield* aDoor(asking(1))
      const client = yield* aClientOf("legacy", door.url, door.key)
      const answer = yield* client.send("tools/call", { name: "echo", arguments: {} })
      assert.strictEqual(at(answer.body, "result", "isError"), true, answer.text)
      assert.include(billingOf(answer) as object, { charged: false, cost_microcents: 0 })
      assert.deepStrictEqual(yield* door.wallet, { balance: LOADED, held: 0 })
    })
  )

  it.effect(
    "is answered by the SDK's client without help, over several legs; the hold stays while its user is asked",
    () =>
      Effect.gen(function* () {
        const { client: api, door, key } = yield* strangerMarket(100)
        const asked: Array<string> = []
        const held: Array<bigint> = []
        const client = yield* connected(door, key, { elicitation: { form: {} } })
        client.setRequestHandler("elicitation/create", async ({ params }) => {
          asked.push(params.message)
          held.push(BigInt((await api.money.balance()).held_microcents))
          return { action: "accept" as const, content: asked.length === 1 ? { name: "Ada" } : { color: "blue" } }
        })
        const name = "test_input_required_result_multi_round"
        const called = yield* Effect.promise(() => client.callTool({ name, arguments: {} }))
        assert.deepInclude(called.content[0], { text: "Multi-round complete: Ada likes blue" })
        assert.deepStrictEqual(asked, ["Step 1: What is your name?", "Step 2: What is your favorite color?"])
        assert.deepStrictEqual(held, [500n, 500n])
        const { balance_microcents: balance, held_microcents: left } = yield* Effect.promise(() => api.money.balance())
        assert.deepStrictEqual([BigInt(balance), BigInt(left)], [999_500n, 0n])
      })
  )

  it.effect("asks the user of the SDK's client for funds, and is then called and billed once", () =>
    Effect.gen(function* () {
      const { client: api, door, key } = yield* strangerMarket(0)
      const client = yield* connected(door, key, { elicitation: { url: {} } })
      const asked: Array<string> = []
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message)
        assert.match(String((params as { readonly url?: unknown }).url), /\/developer\/funds$/u)
        await api.money.load({ payload: { amount_cents: 100 } })
        return { action: "accept" as const }
      })
      const called = yield* Effect.promise(() => client.callTool({ name: "test_simple_text", arguments: {} }))
      assert.deepInclude(called.content[0], { text: "This is a simple text response for testing." })
      assert.lengthOf(asked, 1)
      assert.include(asked[0], "Insufficient balance: this call costs $0.0005 and $0.00 is available.")
      const { balance_microcents: balance } = yield* Effect.promise(() => api.money.balance())
      assert.strictEqual(BigInt(balance), 999_500n)
    })
  )

  it.effect("is refused for lack of funds, with that code, where the user declines or cancels", () =>
    Effect.gen(function* () {
      const { door, key } = yield* strangerMarket(0)
      for (const action of ["decline", "cancel"] as const) {
        const client = yield* connected(door, key, { elicitation: { url: {} } })
        client.setRequestHandler("elicitation/create", async () => ({ action }))
        const called = yield* Effect.promise(() => client.callTool({ name: "test_simple_text", arguments: {} }))
        assert.isTrue(called.isError)
        assert.deepInclude(called._meta?.["agent-tool-billing/billing"], {
          code: "INSUFFICIENT_FUNDS",
          charged: false,
          price_microcents: 500,
          remaining_balance_microcents: 0
        })
        assert.match(JSON.stringify(called.content), /"The user declined to add funds: this call costs \$0\.0005 and /u)
      }
    })
  )
})

const connected = (url: string, key: string, capabilities: object) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client(
        { name: "sdk2", version: "1" },
        { versionNegotiation: { mode: { pin: MODERN } }, capabilities }
      )
      const headers = { authorization: `Bearer ${key}` }
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

it.live(
  "A call that is abandoned between two legs is voided when its time is up, and its state is rejected",
  () =>
    Effect.gen(function* () {
      const { today, url: base } = yield* behind(1, {
        PAYMENTS: "dry_run",
        ALLOW_UPSTREAM: "loopback",
        RATE_LIMIT_RPM: "0",
        RATE_LIMIT_IP_RPM: "0"
      })
      const server = yield* scriptedServer({ era: "modern", onCall: asking(1), onOther: onOther! })
      const made = yield* posted(`${base}/api/market/register-provider`, {
        name: "Echo Works",
        email: "echo@example.org",
        endpoint_url: server.url,
        tools: [{ tool_name: "echo", price_microcents: PRICE, free_tier_calls: 0 }]
      })
      const key = yield* aFundedConsumer(base, 100)
      const url = `${base}/mcp/${String(made["provider_id"])}`
      const send: Door["send"] = (asked) => ask({ url, key, ...asked, meta: { ...ELICITS, ...asked.meta } })
      const first = yield* send({ method: "tools/call", params: { name: "echo", arguments: {} } })
      const state = stateOf(first)
      const wallet = walletOf(base, key)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: PRICE })
      yield* today
      for (let held = PRICE; held !== 0;) {
        yield* Effect.sleep("50 millis")
        ;({ held } = yield* wallet)
      }
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
      const [receipt, ...others] = yield* receiptsOf({ base, key })
      assert.lengthOf(others, 0)
      assert.deepInclude(receipt, {
        receipt_id: first.headers.get("x-market-receipt"),
        status: "error",
        cost_microcents: 0
      })
      rejectedWith(yield* continued({ send }, state), /has expired.*Nothing was charged/u)
      assert.lengthOf(server.of("tools/call"), 1)
      assert.deepStrictEqual(yield* wallet, { balance: LOADED, held: 0 })
    }).pipe(Effect.scoped),
  120_000
)
