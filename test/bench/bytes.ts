/**
 * `npm run bench -- bytes`: what a call leaves in the write-ahead log and on disk, with and without an idempotency key,
 * one by one and in batches of 64. Between checkpoints: the first change of each page after one is written as a whole.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, ManagedRuntime } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import { FEE_BASIS_POINTS_DEFAULT } from "../../domain/ledger/PlatformFee.ts"
import { CallStore, type KeptResult } from "../../domain/metering/CallStore.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { format } from "../../domain/shared/Time.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { table } from "./support/Table.ts"

const WALLETS = 1_000
const CALLS = 3_200
const WARM_UP_CALLS = CALLS / 10
const PRICE = Microcents.make(50_000n)

const consumers = Array.from({ length: WALLETS }, () => ConsumerId.make(randomUUID()))
const provider = ProviderId.make(randomUUID())
const tool = ToolId.make(randomUUID())
let made = 0

const database = PgClient.layerFrom(
  Effect.gen(function* () {
    const { url } = yield* temporaryPostgres({
      // Autovacuum would add records of its own at moments that differ.
      settings: { wal_level: "replica", checkpoint_timeout: "1h", max_wal_size: "4GB", autovacuum: "off" }
    })
    return yield* PgClient.make({ url })
  })
)

export const bytes = async (): Promise<void> => {
  const runtime = ManagedRuntime.make(PostgresCallStore.layer.pipe(Layer.provideMerge(database)))
  try {
    await runtime.runPromise(bench)
  } finally {
    await runtime.dispose()
  }
}

const bench = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* migrate
  yield* sql`INSERT INTO wallets (consumer_id, credits) SELECT unnest(${consumers}::uuid[]), 1000000000000000`
  const rows: Array<ReadonlyArray<string>> = []
  for (const isKeyed of [false, true]) {
    for (const callers of [1, 64]) {
      yield* calls(callers, WARM_UP_CALLS, isKeyed)
      const before = yield* state
      yield* calls(callers, CALLS, isKeyed)
      const after = yield* state
      const disk = [...after.sizes].map(
        ([name, size]) => [name, (size - (before.sizes.get(name) ?? 0)) / CALLS] as const
      )
      rows.push([
        isKeyed ? "with a key" : "without",
        String(callers),
        ((after.wal - before.wal) / CALLS).toFixed(0),
        disk.reduce((sum, [, size]) => sum + size, 0).toFixed(0),
        disk.flatMap(([name, size]) => (size < 1 ? [] : [`${name} ${size.toFixed(0)}`])).join(", ")
      ])
    }
  }
  table(`Bytes of a call over ${CALLS} calls`, [["", "callers", "WAL", "disk", "tables and indexes"], ...rows])
})

const state = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [position] = yield* sql<{ readonly wal: number }>`
    SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal`
  const sizes = yield* sql<{ readonly name: string; readonly size: number }>`
    SELECT relname AS name, pg_relation_size(oid)::float8 AS size FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`
  return { wal: position!.wal, sizes: new Map(sizes.map(({ name, size }) => [name, size])) }
})

const calls = (callers: number, count: number, isKeyed: boolean) =>
  Effect.gen(function* () {
    const store = yield* CallStore
    yield* Effect.forEach(Array.from({ length: count }), () => call(store, isKeyed), {
      concurrency: callers,
      discard: true
    })
  })

const call = Effect.fnUntraced(function* (store: CallStore["Service"], isKeyed: boolean) {
  const openedAt = yield* DateTime.now
  const consumerId = consumers[made % WALLETS]!
  const fee = FEE_BASIS_POINTS_DEFAULT.toString(16).padStart(4, "0")
  const invocationId = ReceiptId.make(
    `rcpt_${openedAt.epochMilliseconds.toString(16).padStart(12, "0")}7${(made++ & 0xfff).toString(16).padStart(3, "0")}8` +
      `${randomBytes(6).toString("hex").slice(0, 11)}${fee}`
  )
  const key = { keyHash: randomBytes(32).toString("hex"), requestHash: randomBytes(32).toString("hex") }
  const opened = yield* store.open({
    invocationId,
    consumerId,
    providerId: provider,
    toolId: tool,
    toolName: "search_web",
    priceVersion: 1,
    holdAmount: PRICE,
    feeBasisPoints: FEE_BASIS_POINTS_DEFAULT,
    freeTierCalls: 0,
    origin: "proxy",
    openedAt,
    deadlineAt: DateTime.add(openedAt, { seconds: 30 }),
    idempotency: isKeyed ? key : undefined
  })
  if (opened._tag !== "Opened") return yield* Effect.die(new Error(opened._tag))
  const receipt = {
    receipt_id: invocationId,
    tool_id: tool,
    tool_name: "search_web",
    agent_id: consumerId,
    provider_id: provider,
    timestamp: format(openedAt),
    duration_ms: 12,
    cost_microcents: PRICE,
    status: "success",
    signature: randomBytes(32).toString("hex"),
    created_at: format(yield* DateTime.now)
  } as const
  yield* store.close({
    consumerId,
    receipt,
    feeBasisPoints: FEE_BASIS_POINTS_DEFAULT,
    held: opened.held,
    priceVersion: 1,
    origin: "proxy",
    requestBytes: 200,
    responseBytes: 1_000,
    tokensInput: 0,
    tokensOutput: 0,
    ...(isKeyed ? { keyHash: key.keyHash } : {}),
    answer: isKeyed ? answerOf(receipt) : undefined
  })
})

/** As the proxy answers. */
const answerOf = (receipt: Readonly<Record<string, unknown>>): KeptResult => {
  const id = String(receipt["receipt_id"])
  const meta = {
    tool: "Search the web",
    tool_name: receipt["tool_name"],
    tool_id: tool,
    provider: "Example Works",
    provider_id: provider,
    cost_cents: 0.05,
    cost_microcents: 50_000,
    cost: "$0.0005",
    latency_ms: 12,
    remaining_balance_cents: 999_999.95,
    remaining_balance_microcents: 999_999_950_000,
    free_tier_remaining: null,
    receipt_id: id,
    invocation_id: id,
    attempts: 1,
    outcome: "success"
  }
  return {
    status: 200,
    headers: {
      "x-market-cost": "50000",
      "x-market-provider": provider,
      "x-market-latency": "12",
      "x-market-tool": tool,
      "x-market-receipt": id,
      link: `<http://localhost:3000/api/v1/market/receipts/${id}>; rel="receipt"`
    },
    body: JSON.stringify({
      result: {
        content: [{ type: "text", text: `The answer is ${id.slice(-8)}, with a sentence around it.` }],
        isError: false
      },
      meta
    })
  }
}
