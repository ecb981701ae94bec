/**
 * The audit of the crash tests finds each planted fault in an otherwise sound ledger.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { receiptOfUuid } from "../../adapters/sql/ledger/LedgerCodes.ts"
import { MARKET_OWNER } from "../../domain/ledger/Transfer.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"

const COST = 12_345n
const FEE = 1_235n

interface Fault {
  readonly cost?: bigint
  readonly fee?: bigint
  readonly earned?: bigint
  readonly debits?: bigint
  readonly held?: bigint
}

/** A settled call of a consumer of its own. */
const aCall = Effect.fnUntraced(function* (fault: Fault = {}) {
  const { cost = COST, debits = cost, earned = cost - FEE, fee = FEE, held = 0n } = fault
  const sql = yield* SqlClient.SqlClient
  const [id, consumer, provider, tool] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  yield* sql`INSERT INTO wallets VALUES (${consumer}, ${100_000n}, ${debits}, ${held})`
  yield* sql`INSERT INTO receipts VALUES (${id}, ${consumer}, ${provider}, ${tool}, now(), now(), ${cost}, ${fee}, 1, 1, 1, 1, 0,
    0, NULL, 1, 1, 1000, ${new Uint8Array(32)}, 'echo')`
  yield* sql`INSERT INTO account_balances AS b (owner_id, account, lane, day, credits) VALUES
      (${provider}, 2, 1, (now() AT TIME ZONE 'UTC')::date, ${earned}), (${MARKET_OWNER}, 3, 1, '1970-01-01', ${FEE})
    ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits`
  return id
})

const told = (call: string, id: string, cost = COST) => ({ call, receiptId: receiptOfUuid(id), cost })
const seen = (calls: Readonly<Record<string, ReadonlyArray<string>>>) => ({
  invocations: new Map(Object.entries(calls).map(([call, ids]) => [call, ids.map(receiptOfUuid)]))
})
const nothing = { acknowledged: [], provider: seen({}) }

const finding = (words: string, findings: ReadonlyArray<string>) =>
  assert.isTrue(
    findings.some((one) => one.includes(words)),
    `${words} is not in ${findings.join("; ")}`
  )

it.effect("reports nothing for a sound ledger", () =>
  Effect.gen(function* () {
    const id = yield* aCall()
    const found = yield* booksAfter({ acknowledged: [told("plain-1", id)], provider: seen({ "plain-1": [id] }) })
    assert.deepStrictEqual(found, { findings: [], receipts: 1, charged: 1, open: 0 })
  }).pipe(Effect.provide(PostgresTest.layer))
)

it.effect("reports a response to a client that the ledger does not confirm", () =>
  Effect.gen(function* () {
    const id = yield* aCall()
    const books = (...acknowledged: ReadonlyArray<ReturnType<typeof told>>) =>
      Effect.map(booksAfter({ ...nothing, acknowledged }), ({ findings }) => findings)
    finding("it is undefined", yield* books(told("plain-1", randomUUID())))
    finding("it is 12345", yield* books(told("plain-1", id, 1n)))
    finding("told twice", yield* books(told("plain-1", id), told("plain-2", id)))
  }).pipe(Effect.provide(PostgresTest.layer))
)

it.effect("reports a forwarded call without a record, and one that was charged twice", () =>
  Effect.gen(function* () {
    const [first, second] = [yield* aCall(), yield* aCall()]
    const books = (calls: Readonly<Record<string, ReadonlyArray<string>>>) =>
      Effect.map(booksAfter({ ...nothing, provider: seen(calls) }), ({ findings }) => findings)
    finding("no trace", yield* books({ "plain-1": [randomUUID()] }))
    finding("charged 2 times", yield* books({ "keyed-1": [first, second] }))
    assert.deepStrictEqual(yield* books({ "plain-1": [first, second] }), [])
  }).pipe(Effect.provide(PostgresTest.layer))
)

it.effect.each<readonly [words: string, fault: Fault]>([
  ["has a fee of", { fee: COST + 1n }],
  ["account of", { fee: FEE + 1n }],
  ["account of", { earned: COST - FEE - 1n }],
  ["does not add up", { debits: COST - 1n }],
  ["does not add up", { held: COST }]
])("reports a receipt or a wallet that %s", ([words, fault]) =>
  Effect.gen(function* () {
    yield* aCall(fault)
    finding(words, (yield* booksAfter(nothing)).findings)
  }).pipe(Effect.provide(PostgresTest.layer))
)
