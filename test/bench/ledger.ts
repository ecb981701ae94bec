/**
 * `npm run bench -- ledger`: opened and closed calls per second on a durable PostgreSQL, many wallets and one hot
 * one, beside as many callers that only commit a plain row, batched in the same way, in turns.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, ManagedRuntime } from "effect"
import { randomBytes, randomUUID } from "node:crypto"
import * as PostgresLedgerStore from "../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as GroupCommit from "../../adapters/sql/shared/GroupCommit.ts"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { FEE_BASIS_POINTS_DEFAULT } from "../../domain/ledger/PlatformFee.ts"
import { CallStore, type OpenCall } from "../../domain/metering/CallStore.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { format } from "../../domain/shared/Time.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { note } from "./support/Figures.ts"
import { median, table } from "./support/Table.ts"
import { ratioOf } from "./support/Turns.ts"

const ROUNDS = 13
const WARM_UP_ROUNDS = 2
const TURN_MS = 700
const WALLETS = 10_000
const TOOLS = 200
const PROVIDERS = 20
const CALLERS = [1, 64, 256]
const BARE = "a plain row"
const PRICE = Microcents.make(50_000n)
const LOADED = 1_000_000_000_000_000n
const LOADED_ROWS_AT_ONCE = 5_000

interface Measured {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const consumers = Array.from({ length: WALLETS }, () => ConsumerId.make(randomUUID()))
const providers = Array.from({ length: PROVIDERS }, () => ProviderId.make(randomUUID()))
const tools = Array.from({ length: TOOLS }, () => ToolId.make(randomUUID()))

export const ledger = async (): Promise<void> => {
  const runtime = ManagedRuntime.make(stores)
  try {
    await runtime.runPromise(bench)
  } finally {
    await runtime.dispose()
  }
}

const database = PgClient.layerFrom(
  Effect.gen(function* () {
    const { url } = yield* temporaryPostgres({ durable: true })
    return yield* PgClient.make({ url })
  })
)

const stores = Layer.mergeAll(PostgresCallStore.layer, PostgresLedgerStore.layer).pipe(Layer.provideMerge(database))

const bench = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const calls = yield* CallStore
  yield* migrate
  yield* sql`CREATE TABLE plain_rows (id uuid PRIMARY KEY, consumer_id uuid, amount int8, at timestamptz)`
  for (let i = 0; i < WALLETS; i += LOADED_ROWS_AT_ONCE) {
    const some = consumers.slice(i, i + LOADED_ROWS_AT_ONCE)
    // Straight into the table, so that the audit at the end names exactly what was not posted: see `moneyMade`.
    yield* sql`INSERT INTO wallets (consumer_id, credits) SELECT unnest(${some}::uuid[]), ${LOADED}`
  }

  const rowLane = yield* GroupCommit.make<string, void>({
    name: "plain rows",
    batchMax: 512,
    batchEnough: 16,
    batchWeightMax: Number.POSITIVE_INFINITY,
    weightOf: () => 0,
    queueMax: 1_000,
    run: (ids) =>
      Effect.as(
        sql`INSERT INTO plain_rows SELECT id, ${consumers[0]!}, 50000, now() FROM unnest(${ids}::uuid[]) id`,
        ids.map(() => undefined)
      )
  })
  const subjects: ReadonlyArray<readonly [name: string, callers: number, one: Effect.Effect<unknown, unknown>]> = [
    ...CALLERS.map((callers) => [BARE, callers, Effect.suspend(() => rowLane(randomUUID()))] as const),
    ...CALLERS.map((callers) => [`call, many wallets`, callers, call(calls, consumers)] as const),
    ...CALLERS.map((callers) => [`call, one hot wallet`, callers, call(calls, consumers.slice(0, 1))] as const)
  ]
  const measured = subjects.map((): Array<Measured> => [])
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [subject, [, callers, one]] of subjects.entries()) {
      const result = yield* measure(callers, one)
      if (round >= 0) measured[subject]!.push(result)
    }
  }

  const ofBare = (subject: number) => ratioOf(measured[subject]!, measured[subject % CALLERS.length]!)
  table(`Calls opened and closed, medians of ${ROUNDS} turns of ${TURN_MS} ms, synchronous_commit on`, [
    ["", "callers", "per second", "of bare", "p50 ms", "p99 ms"],
    ...subjects.map(([name, callers], subject) => [
      name,
      String(callers),
      median(measured[subject]!.map((one) => one.perSecond)).toFixed(0),
      ofBare(subject).toFixed(2),
      median(measured[subject]!.map((one) => one.p50Ms)).toFixed(2),
      median(measured[subject]!.map((one) => one.p99Ms)).toFixed(2)
    ])
  ])
  for (const [subject, [name, callers]] of subjects.entries()) {
    if (name !== BARE) note(`${name}, ${callers} callers, of a plain row`, ofBare(subject))
  }
  yield* check
  yield* sizes
}).pipe(Effect.scoped)

/** Opens and closes one call of a random wallet. */
const call = (calls: CallStore["Service"], wallets: ReadonlyArray<ConsumerId>) =>
  Effect.gen(function* () {
    const at = randomBytes(6).readUIntBE(0, 6)
    const tool = at % TOOLS
    const openedAt = yield* DateTime.now
    const opening: OpenCall = {
      invocationId: receiptId(openedAt.epochMilliseconds),
      consumerId: wallets[at % wallets.length]!,
      providerId: providers[tool % PROVIDERS]!,
      toolId: tools[tool]!,
      toolName: "search_web",
      priceVersion: 1,
      holdAmount: PRICE,
      feeBasisPoints: FEE_BASIS_POINTS_DEFAULT,
      freeTierCalls: 0,
      origin: "proxy",
      openedAt,
      deadlineAt: DateTime.add(openedAt, { seconds: 30 }),
      idempotency: undefined
    }
    const opened = yield* calls.open(opening)
    if (opened._tag !== "Opened") return yield* Effect.die(new Error(opened._tag))
    const closed = yield* calls.close({
      consumerId: opening.consumerId,
      receipt: {
        receipt_id: opening.invocationId,
        tool_id: opening.toolId,
        tool_name: opening.toolName,
        agent_id: opening.consumerId,
        provider_id: opening.providerId,
        timestamp: format(openedAt),
        duration_ms: 12,
        cost_microcents: PRICE,
        status: "success",
        signature: opening.invocationId.slice(5).repeat(2),
        created_at: format(yield* DateTime.now)
      },
      feeBasisPoints: opening.feeBasisPoints,
      held: opened.held,
      priceVersion: 1,
      origin: "proxy",
      requestBytes: 200,
      responseBytes: 1_000,
      tokensInput: 0,
      tokensOutput: 0,
      requestId: randomUUID(),
      holdMs: 2,
      answer: undefined
    })
    if (closed._tag !== "Closed") return yield* Effect.die(new Error(closed._tag))
  })

const measure = Effect.fnUntraced(function* <E>(callers: number, one: Effect.Effect<unknown, E>) {
  const latenciesMs: Array<number> = []
  const startedAt = performance.now()
  const until = startedAt + TURN_MS
  const caller = Effect.gen(function* () {
    for (let at = performance.now(); at < until;) {
      yield* one
      const now = performance.now()
      latenciesMs.push(now - at)
      at = now
    }
  })
  yield* Effect.forEach(Array.from({ length: callers }), () => caller, { concurrency: "unbounded", discard: true })
  const seconds = (performance.now() - startedAt) / 1_000
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return {
    perSecond: sorted.length / seconds,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)]!,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)]!
  }
})

/** The rows of a call, without the log, which has a bench of its own. */
const sizes = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly name: string; readonly bytes: number }>`
    SELECT relname AS name, (pg_total_relation_size(c.oid) / (SELECT count(*) FROM receipts)::float8) AS bytes
    FROM pg_class c WHERE relname IN ('receipts', 'posted_transfers') ORDER BY 1`
  table("Bytes a call, with indexes", [["", "bytes"], ...rows.map(({ bytes, name }) => [name, bytes.toFixed(0)])])
})

/** The only amounts that do not come from transfers are the wallets' first credits, which this bench inserted. */
const check = Effect.gen(function* () {
  const { audit } = yield* LedgerStore
  const found = yield* audit
  const others = found.discrepancies.filter((one) => one.figure !== "credits" || one.kept - one.recomputed !== LOADED)
  process.stdout.write(
    `Audit: ${found.transfers} transfers, ${found.accounts} accounts, ${found.openCalls} open calls, ` +
      `${others.length} discrepancies.\n`
  )
  if (others.length > 0 || found.openCalls > 0) process.exitCode = 1
})

let receipts = 0

const receiptId = (epochMs: number): ReceiptId => {
  const time = epochMs.toString(16).padStart(12, "0")
  const count = (receipts++ & 0xfff).toString(16).padStart(3, "0")
  const fee = FEE_BASIS_POINTS_DEFAULT.toString(16).padStart(4, "0")
  return ReceiptId.make(`rcpt_${time}7${count}8${randomBytes(6).toString("hex").slice(0, 11)}${fee}`)
}
