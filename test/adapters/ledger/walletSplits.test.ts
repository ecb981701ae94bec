/**
 * What the migration records of wallets from before: credit as far as it can still be there.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import migrate from "../../../migrations/0002_wallet_splits.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, aConsumerId, consumerWith, money, platformWith, settled } from "../../contracts/ledgerSamples.ts"
import { isCluster } from "../../support/servers/CitusCluster.ts"

it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("Wallets from before", (it) => {
  // The migration ran before any cluster was made.
  it.effect.skipIf(isCluster)("keep as credit what was given and is still there", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      yield* platformWith(1_000)
      const [paid, both, owing] = [yield* consumerWith(900), yield* consumerWith(900), yield* aConsumerId]
      yield* ledger.reverse({ consumerId: owing, amount: money(70), cause: "dispute", reference: `back ${owing}` })
      yield* ledger.credit({ consumerId: owing, amount: money(100), reference: `given ${owing}` })
      yield* ledger.credit({ consumerId: both, amount: money(300), reference: `given ${both}` })
      for (const consumerId of [paid, both]) yield* settled(yield* aCall(consumerId, { holdAmount: money(400) }))
      yield* sql`DROP TABLE wallet_splits`
      yield* sql`ALTER TABLE claims DROP COLUMN credit`
      yield* migrate
      const rows = yield* sql<{ readonly consumer_id: string; readonly paid: bigint; readonly credit: bigint }>`
        SELECT consumer_id, paid, credit FROM wallet_splits`
      assert.sameDeepMembers(
        rows.map((row) => [row.consumer_id, row.paid, row.credit]),
        [
          [both, 500n, 300n],
          [owing, 0n, 30n]
        ]
      )
    })
  )
})
