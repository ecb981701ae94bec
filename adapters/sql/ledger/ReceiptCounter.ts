/**
 * Adds completed calls to the totals that are kept of them (`count_receipts` in migrations/ledger/CountReceipts.ts). Every
 * read of usage or earnings counts first: then the totals have every call that was completed before.
 *
 * The counter has a connection of its own, so it also works for a transaction that has rows locked: it waits for none of
 * these, and what it commits is seen by the statements that follow. Those who ask while it counts share the next round.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import * as LaneConnection from "../shared/LaneConnection.ts"
import * as GroupCommit from "../shared/GroupCommit.ts"

/** A row has the receipts of one batch of calls: 512 at most. */
const ROWS_AT_ONCE_MAX = 200
const WAITING_MAX = 20_000

/** A replica has what was counted on the primary, and counts nothing. */
const COUNT = "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE count_receipts($1) END"

export class ReceiptCounter extends Context.Service<
  ReceiptCounter,
  {
    /** Counts all that wait, and returns how many calls it counted. */
    readonly count: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/adapters/sql/metering/ReceiptCounter") {
  static readonly layer = Layer.effect(
    ReceiptCounter,
    Effect.gen(function* () {
      const { config } = yield* PgClient.PgClient
      const connection = yield* LaneConnection.make(() => config, "counter")

      const countAll = Effect.gen(function* () {
        let counted = 0
        while (true) {
          const [[part] = []] = yield* connection.query(COUNT, [PgTypes.int4(ROWS_AT_ONCE_MAX)])
          if (part === 0n) return counted
          counted += Number(part)
        }
      })

      const join = yield* GroupCommit.make<undefined, number>({
        name: "counter",
        batchMax: WAITING_MAX,
        batchEnough: WAITING_MAX,
        batchWeightMax: WAITING_MAX,
        weightOf: () => 1,
        queueMax: WAITING_MAX,
        run: (waiting) => Effect.map(countAll, (counted) => waiting.map(() => counted))
      })
      return ReceiptCounter.of({ count: Effect.suspend(() => join(undefined)) })
    })
  )
}
