/**
 * A node is killed while the calls of MCP clients run on it, among them calls whose stream was dropped, that were canceled,
 * that wait for input, and that are just being settled. Another node takes over: each call is settled exactly once, its
 * client learns how, and the books balance.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, result, scriptedServer, text } from "../../testing/mcp/ScriptedServer.ts"
import { kill } from "../support/servers/EmbeddedFolders.ts"
import { got } from "../support/market/HttpMarket.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { aFundedConsumer, posted, walletOf } from "../support/load/LoadMarket.ts"
import { onOther } from "../support/mcp/ADoor.ts"
import { type Answered, ask, at, billingOf, errorCode, textOf } from "../support/mcp/DoorClient.ts"
import { eventsOf, gatedServer } from "../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, connected, type LegacyDoor, rpc } from "../support/mcp/LegacyClients.ts"
import { aSession, canceled, resume, settled } from "../support/mcp/LegacyWire.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { aNode, OPERATOR_OF_NODES, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { tcpBalancer } from "../support/servers/TcpBalancer.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const PRICE = 1_000
const LOADED = 100_000_000
const CALLS = 16
const KEY_META = "agent-tool-billing/idempotency_key"

const onTheDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(PostgresTest, ({ url }) => connectedTo(url)(use))

/** As if the time had passed that a node has to settle a call. */
const timePasses = onTheDatabase(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`UPDATE calls_open SET deadline_at = now() - interval '1 minute', opened_at = now() - interval '2 minutes'`
  )
)

const booksBalance = Effect.fnUntraced(function* (
  url: string,
  invocations: ReadonlyMap<string, ReadonlyArray<string>>
) {
  const { findings, open } = yield* onTheDatabase(booksAfter({ acknowledged: [], provider: { invocations } }))
  assert.deepStrictEqual(findings, [])
  assert.strictEqual(open, 0)
  const trial = yield* got(`${url}/api/v1/market/ledger/trial-balance`, OPERATOR_OF_NODES)
  assert.strictEqual(trial["balanced"], true)
  const solvency = yield* got(`${url}/api/v1/operator/solvency`, OPERATOR_OF_NODES)
  assert.strictEqual(Number(solvency["shortfall_microcents"]), 0)
})

/** A tool that asks once, and then answers, or hangs where its arguments say so. */
const anAsker = Effect.fnUntraced(function* (url: string) {
  const server = yield* scriptedServer({
    era: "modern",
    onOther: onOther!,
    onCall: (seen, response) => {
      const asks = { resultType: "input_required", inputRequests: {}, requestState: "theirs" }
      const { hangs } = seen.params["arguments"] as { readonly hangs?: boolean }
      if (seen.params["requestState"] === undefined) json(response, result(seen, asks))
      else if (hangs !== true) json(response, result(seen, { resultType: "complete", ...text("done") }))
    }
  })
  const { provider_id: id } = yield* posted(`${url}/api/market/register-provider`, {
    name: "Echo Works",
    email: "echo@example.org",
    endpoint_url: server.url,
    tools: [{ tool_name: "echo", price_microcents: PRICE, free_tier_calls: 0, timeout_ms: 60_000 }]
  })
  const key = yield* aFundedConsumer(url, LOADED / 10_000)
  const called = (node: string, args: object, requestState?: unknown) =>
    ask({
      url: `${node}/mcp/${String(id)}`,
      key,
      method: "tools/call",
      params: {
        name: "echo",
        arguments: args,
        ...(requestState === undefined ? {} : { inputResponses: {}, requestState })
      }
    })
  return { called, key, server }
})

const stateOf = (answer: Answered) => at(answer.body, "result", "requestState")

interface Running {
  readonly n: number
  readonly isKeyed: boolean
  readonly isCanceled: boolean
  readonly stream: ReturnType<typeof eventsOf>
  readonly drop: () => void
}

const message = (n: number, isKeyed: boolean) => ({
  jsonrpc: "2.0",
  id: `call ${n}`,
  method: "tools/call",
  params: {
    name: "wait",
    arguments: { call: isKeyed ? `keyed ${n}` : `plain ${n}` },
    _meta: { progressToken: n, ...(isKeyed ? { [KEY_META]: `key ${n}` } : {}) }
  }
})

it.layer(SteadyNode.layer, { ...LIVE, timeout: "90 seconds" })("Another node takes over from a killed one", (it) => {
  it.effect(
    "calls whose streams were dropped, that were canceled, and that were just being settled",
    () =>
      Effect.gen(function* () {
        const node = yield* aNode
        const other = yield* SteadyNode
        const gated = yield* gatedServer
        const there = yield* aLegacyDoor(other.url, gated.server.url, [aPricedTool("wait", { timeout_ms: 60_000 })])
        const here: LegacyDoor = { ...there, url: node.url, door: there.door.replace(other.url, node.url) }
        const session = yield* aSession(here)

        const running: Array<Running> = []
        for (let n = 0; n < CALLS; n++) {
          const connection = new AbortController()
          const isKeyed = n % 3 === 0
          const response = yield* Effect.promise(() => rpc(here, message(n, isKeyed), session, connection.signal))
          const stream = eventsOf(response)
          yield* eventually(() => stream.events.length >= 2)
          running.push({ n, isKeyed, isCanceled: n % 4 >= 2, stream, drop: () => connection.abort() })
        }
        for (const { drop, n, stream } of running) {
          if (n % 2 === 0) continue
          drop()
          yield* eventually(() => stream.failed)
        }
        for (const { isCanceled, n, stream } of running) {
          if (!isCanceled) continue
          yield* Effect.promise(() => rpc(there, canceled(`call ${n}`), session))
          if (n % 2 === 0) yield* eventually(() => stream.ended)
        }
        assert.lengthOf(gated.server.of("tools/call"), CALLS)
        assert.deepStrictEqual(yield* walletOf(other.url, there.key), { balance: LOADED, held: CALLS * PRICE })

        // Half of them are being settled when the node dies.
        const answeredFirst = (n: number) => n < CALLS / 2
        for (const { n } of running) if (answeredFirst(n)) gated.finish(n)
        yield* kill(node.child, "SIGKILL")
        yield* timePasses

        const receipts = yield* settled(there, CALLS)
        const costOf = new Map(receipts.map((one) => [String(one["receipt_id"]), Number(one["cost_microcents"])]))
        assert.strictEqual(costOf.size, CALLS)
        const charged = [...costOf.values()].reduce((sum, cost) => sum + cost, 0)
        assert.deepStrictEqual(yield* walletOf(other.url, there.key), { balance: LOADED - charged, held: 0 })

        const told = yield* Effect.forEach(
          running,
          Effect.fnUntraced(function* ({ n, stream }) {
            const resumed = eventsOf(yield* resume(there, session, stream.events[1]!.id!))
            yield* eventually(() => resumed.ended, 60_000)
            const { id, result: response } = JSON.parse(resumed.events.at(-1)!.data)
            assert.strictEqual(id, `call ${n}`)
            assert.isTrue(response.isError, "the result itself died with the node")
            const { cost_microcents: cost, receipt_id: receiptId } = response._meta["agent-tool-billing/billing"]
            assert.strictEqual(cost, costOf.get(receiptId), "its client is told what it costs")
            assert.include(answeredFirst(n) ? [0, PRICE] : [0], cost)
            return receiptId as string
          }),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(told).size, CALLS)

        // Repeated under its key, a call that was charged is not made again, and one that was voided is made once.
        const before = gated.open.length
        let made = 0
        for (const { isKeyed, n } of running) {
          if (!isKeyed) continue
          const repeated = rpc(there, message(n, true), session)
          const stream = eventsOf(yield* Effect.promise(() => repeated))
          yield* eventually(() => stream.ended || gated.open.length > before + made)
          if (gated.open.length > before + made) gated.finish(before + made++)
          yield* eventually(() => stream.ended)
        }
        const all = yield* settled(there, CALLS + made)
        const chargedInAll = all.reduce((sum, one) => sum + Number(one["cost_microcents"]), 0)
        assert.strictEqual(chargedInAll, charged + made * PRICE)
        assert.deepStrictEqual(yield* walletOf(other.url, there.key), { balance: LOADED - chargedInAll, held: 0 })
        const invocations = new Map<string, Array<string>>()
        for (const { headers, params } of gated.server.of("tools/call")) {
          const { call } = params["arguments"] as { readonly call: string }
          invocations.set(call, [...(invocations.get(call) ?? []), String(headers["x-market-invocation"])])
        }
        for (const ids of invocations.values()) assert.strictEqual(new Set(ids).size, ids.length)
        yield* booksBalance(other.url, invocations)
      }),
    240_000
  )

  it.effect(
    "a call that waits for input, which goes on there; a leg that was running is voided, and its state stays used",
    () =>
      Effect.gen(function* () {
        const node = yield* aNode
        const other = yield* SteadyNode
        const { called, key, server } = yield* anAsker(other.url)
        const [waits, runs] = [yield* called(node.url, {}), yield* called(node.url, { hangs: true })]
        yield* Effect.forkChild(Effect.exit(called(node.url, { hangs: true }, stateOf(runs))))
        yield* eventually(() => server.of("tools/call").length === 3)
        yield* kill(node.child, "SIGKILL")
        assert.deepStrictEqual(yield* walletOf(other.url, key), { balance: LOADED, held: 2 * PRICE })

        const used = yield* called(other.url, { hangs: true }, stateOf(runs))
        assert.deepStrictEqual(errorCode(used), [200, -32_602], used.text)
        const done = yield* called(other.url, {}, stateOf(waits))
        assert.strictEqual(textOf(done), "done")
        assert.strictEqual(at(billingOf(done), "receipt_id"), waits.headers.get("x-market-receipt"))
        assert.deepStrictEqual(yield* walletOf(other.url, key), { balance: LOADED - PRICE, held: PRICE })
        yield* timePasses
        const receipts = yield* settled({ url: other.url, door: "", key }, 2)
        const voided = receipts.find((one) => one["receipt_id"] === runs.headers.get("x-market-receipt"))
        assert.deepInclude(voided, { status: "error", cost_microcents: 0 })
        const again = yield* called(other.url, { hangs: true }, stateOf(runs))
        assert.deepStrictEqual(errorCode(again), [200, -32_602])
        assert.lengthOf(server.of("tools/call"), 4)
        assert.deepStrictEqual(yield* walletOf(other.url, key), { balance: LOADED - PRICE, held: 0 })
        yield* booksBalance(other.url, new Map())
      }),
    240_000
  )

  it.effect(
    "a call of the official SDK, whose client reconnects there without help and is told what became of it",
    () =>
      Effect.gen(function* () {
        const node = yield* aNode
        const other = yield* SteadyNode
        const gated = yield* gatedServer
        const balancer = yield* tcpBalancer
        balancer.lead([node.port])
        const there = yield* aLegacyDoor(other.url, gated.server.url, [aPricedTool("wait", { timeout_ms: 60_000 })])
        const door = there.door.replace(other.url, `http://127.0.0.1:${balancer.port}`)
        const { client } = yield* connected({ ...there, door })
        let heard = 0
        const calling = client.callTool({ name: "wait", arguments: {} }, undefined, { onprogress: () => void heard++ })
        yield* eventually(() => heard > 0)
        balancer.lead([])
        yield* kill(node.child, "SIGKILL")
        yield* timePasses
        yield* settled(there, 1)
        balancer.lead([other.port])
        const called = yield* Effect.promise(() => calling)
        assert.isTrue(called.isError)
        const [receipt, ...others] = yield* settled(there, 1)
        assert.lengthOf(others, 0)
        const billing = (called._meta as Record<string, unknown>)["agent-tool-billing/billing"]
        assert.deepStrictEqual(billing, { receipt_id: receipt!["receipt_id"], cost_microcents: 0 })
        // The session goes on.
        const next = client.callTool({ name: "wait", arguments: {} })
        yield* eventually(() => gated.open.length === 2)
        gated.finish(1)
        assert.isUndefined((yield* Effect.promise(() => next)).isError)
        yield* settled(there, 2)
        assert.deepStrictEqual(yield* walletOf(other.url, there.key), { balance: LOADED - PRICE, held: 0 })
      }),
    240_000
  )

  it.effect("no leg twice: a state that is sent to both nodes at the same time counts once", () =>
    Effect.gen(function* () {
      const node = yield* aNode
      const other = yield* SteadyNode
      const { called, server, key } = yield* anAsker(other.url)
      for (let round = 0; round < 5; round++) {
        const state = stateOf(yield* called(node.url, {}))
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, (_, n) => called(n % 2 === 0 ? node.url : other.url, {}, state)),
          { concurrency: "unbounded" }
        )
        const done = answers.filter((answer) => billingOf(answer) !== undefined)
        assert.lengthOf(done, 1)
        for (const answer of answers) if (answer !== done[0]) assert.deepStrictEqual(errorCode(answer), [200, -32_602])
        assert.lengthOf(server.of("tools/call"), 2 * (round + 1))
        const spent = (round + 1) * PRICE
        assert.deepStrictEqual(yield* walletOf(other.url, key), { balance: LOADED - spent, held: 0 })
      }
    })
  )
})
