/**
 * More than one PostgreSQL (docs/scaling-out.md): docs/citus.sql distributes every table that a call changes, and a call changes
 * rows of its consumer only.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import { aCall, consumerWith, settled } from "../../contracts/ledgerSamples.ts"
import { isCluster } from "../../support/servers/CitusCluster.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { schemaParts, tableNames } from "../../support/checks/SchemaParts.ts"

const script = readFileSync(new URL("../../../docs/citus.sql", import.meta.url), "utf8")
const [, array] = /ARRAY\[([^\]]+)\]/u.exec(script)!
const distributed = [...array!.matchAll(/'(\w+)'/gu)].map(([, name]) => name!)

describe.skipIf(isCluster)("On one server, where the schema is made anew, and transactions have one numbering", () => {
  it.layer(PostgresTest.layer, { timeout: "60 seconds", excludeTestServices: true })("docs/citus.sql", (it) => {
    it.effect("distributes the lane part of the schema", () =>
      Effect.gen(function* () {
        assert.sameMembers(distributed, [...(yield* schemaParts).lane])
      })
    )
  })

  it.layer(postgresLedgerPorts, { timeout: "60 seconds", excludeTestServices: true })("Calls", (it) => {
    it.effect("change rows of the lane part and of their consumer only", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const other = yield* consumerWith(1_000_000)
        const consumerId = yield* consumerWith(1_000_000)
        yield* (yield* CallStore).open(yield* aCall(other))
        const [before] = yield* sql<{ readonly id: bigint }>`SELECT pg_current_xact_id()::text::int8 AS id`
        const keyed = yield* aCall(consumerId, {
          freeTierCalls: 1,
          openedAt: yield* DateTime.now,
          idempotency: { keyHash: "0a".repeat(32), requestHash: "0b".repeat(32) }
        })
        yield* settled(keyed, { cost: 0, answer: { status: 200, headers: {}, body: "{}" } })
        yield* settled(yield* aCall(consumerId))

        const withConsumer = yield* sql<{ readonly name: string }>`
        SELECT table_name::text AS name FROM information_schema.columns WHERE column_name = 'consumer_id'`
        const touched = new Map<string, ReadonlyArray<string | null>>()
        for (const name of yield* tableNames) {
          const owner = withConsumer.some((table) => table.name === name) ? "consumer_id::text" : "NULL::text"
          const rows = yield* sql<{ readonly owner: string | null }>`
          SELECT ${sql.literal(owner)} AS owner FROM ${sql(name)} WHERE xmin::text::int8 > ${before!.id}`
          if (rows.length > 0) {
            const owners = rows.map((row) => row.owner)
            touched.set(name, owners)
          }
        }
        for (const name of ["wallets", "receipts", "receipts_unlogged", "free_tier_usage", "call_idempotency"]) {
          assert.isTrue(touched.has(name), name)
        }
        for (const [name, owners] of touched) {
          assert.include(distributed, name)
          assert.deepStrictEqual(new Set(owners), new Set([consumerId]), name)
        }
      })
    )
  })
})
