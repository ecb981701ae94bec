/**
 * The audit compares the fees of providers and receipts with the history of fees, whatever is changed in the database.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { auditFees, recordDefaultFee } from "../../../adapters/sql/accounts/FeeAudit.ts"
import * as PostgresAccountStores from "../../../adapters/sql/accounts/PostgresAccountStores.ts"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { DefaultFeeBasisPoints, type OwnFee, type ProviderFee } from "../../../domain/ledger/PlatformFee.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, consumerWith, settled } from "../../contracts/ledgerSamples.ts"
import { aProvider } from "../../contracts/samples.ts"
import { earlier } from "../../support/metering/TestTime.ts"

const PG = { timeout: "60 seconds", excludeTestServices: true } as const
const DEFAULT = 1_000

const ports = PostgresAccountStores.layer.pipe(Layer.provideMerge(postgresLedgerPorts))

const registered = (days: number) =>
  earlier(`${days} days`)(Effect.flatMap(DateTime.now, (createdAt) => aProvider({ createdAt })))

const setFee = Effect.fnUntraced(function* (id: ProviderId, own: OwnFee, upcoming?: ProviderFee["upcoming"]) {
  const at = yield* DateTime.now
  yield* (yield* AccountStore).setFee(id, { fee: { own, upcoming }, at, by: "Ada", reason: undefined })
})

const called = (providerId: ProviderId, feeBasisPoints: number) =>
  Effect.gen(function* () {
    const call = yield* aCall(yield* consumerWith(10_000), {
      providerId,
      feeBasisPoints,
      openedAt: yield* DateTime.now
    })
    yield* settled(call)
    return call.invocationId
  })

const defaultOf = (basisPoints: number) => Effect.provideService(recordDefaultFee, DefaultFeeBasisPoints, basisPoints)

const wrongFee = (receiptId: string, basisPoints: number, providerId: ProviderId) =>
  `${receiptId} has a fee of ${basisPoints} basis points, which provider ${providerId} did not have then.`

/** Of these providers. */
const found = (...ids: ReadonlyArray<string>) =>
  Effect.map(auditFees, (findings) => findings.filter((one) => ids.some((id) => one.includes(id))))

it.layer(ports, PG)("The audit of fees", (it) => {
  it.effect("accepts the fee that a provider had when each call was opened", () =>
    Effect.gen(function* () {
      const { id } = yield* registered(10)
      yield* earlier("10 days")(defaultOf(DEFAULT))
      yield* earlier("9 days")(called(id, DEFAULT))
      yield* earlier("8 days")(setFee(id, 500))
      yield* earlier("7 days")(called(id, 500))
      const effectiveFrom = DateTime.subtract(yield* DateTime.now, { days: 5 })
      yield* earlier("6 days")(setFee(id, 500, { own: 2_000, effectiveFrom }))
      yield* earlier("126 hours")(called(id, 500))
      yield* earlier("114 hours")(called(id, 2_000))
      // A node that had cached the fee before.
      yield* earlier("4 days")(setFee(id, undefined))
      yield* earlier("5759 minutes")(called(id, 2_000))
      yield* earlier("3 days")(called(id, DEFAULT))
      assert.deepStrictEqual(yield* auditFees, [])
    })
  )

  it.effect("accepts both default fees while nodes are restarted, and one of them before and afterwards", () =>
    Effect.gen(function* () {
      const { id } = yield* registered(9)
      yield* earlier("10 days")(defaultOf(DEFAULT))
      yield* earlier("5 days")(defaultOf(700))
      yield* earlier("4 days")(defaultOf(700))
      yield* earlier("6 days")(called(id, DEFAULT))
      for (const points of [700, DEFAULT]) yield* earlier("108 hours")(called(id, points))
      yield* called(id, 700)
      assert.deepStrictEqual(yield* found(id), [])
      const early = yield* earlier("6 days")(called(id, 700))
      const late = yield* earlier("1 day")(called(id, DEFAULT))
      assert.deepStrictEqual(yield* found(id), [wrongFee(early, 700, id), wrongFee(late, DEFAULT, id)])
      yield* defaultOf(DEFAULT)
    })
  )

  it.effect("finds a fee that is changed in the database, and calls with it after it is changed back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* registered(2)
      yield* earlier("1 day")(setFee(id, 800))
      const changed = `The fee of provider ${id} is not the last one in its history.`
      for (const column of ["fee_bps", "upcoming_fee_bps"]) {
        yield* sql`UPDATE providers SET ${sql(column)} = 0 WHERE id = ${id}`
        assert.deepStrictEqual(yield* found(id), [changed])
      }
      const receipt = yield* called(id, 0)
      yield* sql`UPDATE providers SET fee_bps = 800, upcoming_fee_bps = NULL WHERE id = ${id}`
      assert.deepStrictEqual(yield* found(id), [wrongFee(receipt, 0, id)])
    })
  )

  it.effect("finds a history that does not explain the receipts, or that is incomplete", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* registered(5)
      yield* earlier("4 days")(setFee(id, 800))
      const receipt = yield* earlier("2 days")(called(id, 800))
      // As if the fee had been 0 since before the call.
      yield* earlier("3 days")(setFee(id, 0))
      assert.deepStrictEqual(yield* found(id), [wrongFee(receipt, 800, id)])
      yield* sql`DELETE FROM provider_fees WHERE provider_id = ${id} AND revision = 2`
      const incomplete = `Entries are missing in the history of the fee of provider ${id}.`
      assert.deepStrictEqual(yield* found(id), [incomplete, wrongFee(receipt, 800, id)])
      yield* sql`DELETE FROM provider_fees WHERE provider_id = ${id}`
      assert.include(yield* found(id), `The fee of provider ${id} is not the last one in its history.`)
    })
  )

  it.effect("finds a default fee that was removed from the history", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM provider_fees WHERE provider_id = ${MARKET_OWNER} AND revision = 1`
      assert.include(yield* auditFees, "Entries are missing in the history of the fee of the service, the default one.")
    })
  )
})
