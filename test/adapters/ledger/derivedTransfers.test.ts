/**
 * A receipt is the journal entry of its call: its transfers follow from it and cannot be stored beside it. The audit finds
 * a receipt whose amounts were changed in the database.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { uuidOfReceipt } from "../../../adapters/sql/ledger/LedgerCodes.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { FEE_BASIS_POINTS_MAX } from "../../../domain/ledger/PlatformFee.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, consumerWith, money, settled } from "../../contracts/ledgerSamples.ts"
import { countCalls } from "../../support/market/CountedCalls.ts"

const COST = 1_000n
const FEE = 100n
const PG = { timeout: "60 seconds", excludeTestServices: true } as const

const aSettledCall = Effect.gen(function* () {
  const call = yield* aCall(yield* consumerWith(10_000))
  yield* settled(call)
  yield* countCalls
  return { ...call, id: uuidOfReceipt(call.invocationId) }
})

/** Each discrepancy of these owners as `account figure: kept, recomputed`. */
const found = Effect.fnUntraced(function* (...owners: ReadonlyArray<string>) {
  const { discrepancies } = yield* (yield* LedgerStore).audit
  return discrepancies
    .filter(({ ownerId }) => owners.includes(ownerId))
    .map(({ account, figure, kept, recomputed }) => `${account} ${figure}: ${kept}, ${recomputed}`)
    .toSorted()
})

it.layer(postgresLedgerPorts, PG)("The transfers of a call", (it) => {
  it.effect("differ from the balances once its receipt is changed in the database", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { consumerId, id, providerId } = yield* aSettledCall
      const changed = (cost: bigint, fee: bigint) =>
        sql`UPDATE receipts SET cost = ${cost}, fee = ${fee} WHERE receipt_id = ${id}`.pipe(
          Effect.andThen(found(consumerId, providerId))
        )
      assert.deepStrictEqual(yield* changed(COST, FEE), [])
      assert.deepStrictEqual(yield* changed(COST - 1n, FEE), ["provider credits: 900, 899", "wallet debits: 1000, 999"])
      assert.deepStrictEqual(yield* changed(COST, FEE + 1n), ["provider credits: 900, 899"])
      assert.deepStrictEqual(yield* changed(0n, 0n), ["provider credits: 900, 0", "wallet debits: 1000, 0"])
      yield* sql`DELETE FROM receipts WHERE receipt_id = ${id}`
      assert.deepStrictEqual(yield* found(consumerId, providerId), [
        "provider credits: 900, 0",
        "wallet debits: 1000, 0"
      ])
    })
  )

  it.effect("differ from the provider's balance where the wallet was changed with the receipt", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { consumerId, id, providerId } = yield* aSettledCall
      yield* sql`UPDATE receipts SET cost = cost - 500 WHERE receipt_id = ${id}`
      yield* sql`UPDATE wallets SET debits = debits - 500 WHERE consumer_id = ${consumerId}`
      assert.deepStrictEqual(yield* found(consumerId, providerId), ["provider credits: 900, 400"])
    })
  )

  it.effect("do not agree with the signed id of a call whose fee was changed with both balances", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, invocationId, providerId } = yield* aSettledCall
      yield* sql`UPDATE receipts SET fee = fee - 60 WHERE receipt_id = ${id}`
      yield* sql`UPDATE account_balances SET credits = credits + 60 WHERE owner_id = ${providerId}`
      yield* sql`UPDATE account_balances SET credits = credits - 60 WHERE owner_id = ${MARKET_OWNER} AND account = 3`
      assert.deepStrictEqual(yield* found(invocationId, providerId), ["platform_fee fee: 40, 100"])
      yield* sql`UPDATE receipts SET fee_bps = 400 WHERE receipt_id = ${id}`
      assert.deepStrictEqual(yield* found(invocationId, providerId), [
        "platform_fee fee: 40, 100",
        "platform_fee fee_bps: 400, 1000"
      ])
    })
  )

  it.effect("cannot be stored, nor can transfers without a reference", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { consumerId, id, providerId } = yield* aSettledCall
      const stored = (kind: number, reference: string | null) =>
        Effect.flip(sql`INSERT INTO posted_transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at,
            leg, kind, debit, credit, reference)
          VALUES (${id}, ${consumerId}, ${providerId}, 1, now(), now(), 3, ${kind}, 1, 3, ${reference})`)
      for (const fault of [stored(1, id), stored(2, id), stored(9, null)]) {
        assert.strictEqual((yield* fault).reason._tag, "ConstraintError")
      }
    })
  )
})

it.layer(postgresLedgerPorts, PG)("The audit", (it) => {
  it.effect.prop(
    "recomputes the fee of any call as it was computed",
    {
      cost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      feeBasisPoints: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: FEE_BASIS_POINTS_MAX }))
    },
    ({ cost, feeBasisPoints }) =>
      Effect.gen(function* () {
        const consumerId = yield* consumerWith(Number.MAX_SAFE_INTEGER)
        yield* settled(yield* aCall(consumerId, { feeBasisPoints, holdAmount: money(cost) }))
        assert.deepStrictEqual((yield* (yield* LedgerStore).audit).discrepancies, [])
      })
  )
})
