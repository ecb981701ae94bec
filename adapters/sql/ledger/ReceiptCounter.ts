/**
 * Adds completed calls to the totals that are kept of them (`count_receipts` in migrations/ledger/CountReceipts.ts). Every
 * read of usage or earnings counts first: then the totals have every call that was completed before.
 *
 * The counter has a connection of its own, so it also works for a transaction that has rows locked: it waits for none of
 * these, and the statements that follow see what it commits. Reads that ask while it counts share the next round.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import * as LaneConnection from "../shared/LaneConnection.ts"
import { isConflict, isConnectionLost, raiseAll } from "../shared/SqlFailures.ts"
import * as GroupCommit from "../shared/GroupCommit.ts"

/** A row has the receipts of one batch of calls: 512 at most. Those of one round are counted well within its time limit. */
const ROWS_AT_ONCE_MAX = 50
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
          counted += Number(part)
          // Of fewer rows than asked for, it has counted all. What calls leave since then is counted for who asks later.
          if (Number(part) < ROWS_AT_ONCE_MAX) return counted
        }
      })

      const join = yield* GroupCommit.make<undefined, Exit.Exit<number, StoreUnavailable>>({
        name: "counter",
        batchMax: WAITING_MAX,
        batchEnough: WAITING_MAX,
        batchWeightMax: WAITING_MAX,
        weightOf: () => 1,
        queueMax: WAITING_MAX,
        // An answer and not a failure of the batch, which would be halved and counted again for each half.
        run: (waiting) =>
          countAll.pipe(
            Effect.map(Exit.succeed),
            Effect.catchIf(
              (error) => !isConflict(error) && !isConnectionLost(error),
              (error) => Effect.succeed(Exit.failCause(raiseAll(Cause.fail(error))))
            ),
            Effect.map((exit) => waiting.map(() => exit))
          )
      })
      return ReceiptCounter.of({ count: Effect.flatten(Effect.suspend(() => join(undefined))) })
    })
  )
}
