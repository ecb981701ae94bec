/**
 * Reads PostgreSQL's clock at the start and then every few seconds, and corrects the node's clock by it. A node without
 * a clock to correct, as in a test, uses its own.
 */
import { DateTime, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CorrectedClock, monotonicNowMs } from "../../../domain/shared/Time.ts"
import { storeFailures } from "./StoreSql.ts"

const READ_EVERY = Duration.seconds(5)
const READ_WITHIN = Duration.seconds(10)
/** The first response on a new connection is slow; later readings are more precise. */
const READINGS_AT_START = 3

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const corrected = yield* CorrectedClock
    if (corrected === undefined) return

    const read = Effect.gen(function* () {
      const askedMs = yield* monotonicNowMs
      const [row] = yield* sql<{ readonly now_ms: number }>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`
      corrected.correct({ databaseMs: row!.now_ms, askedMs, answeredMs: yield* monotonicNowMs })
      return DateTime.makeUnsafe(Math.floor(row!.now_ms))
    })

    const logChange = (before: string | undefined) =>
      Effect.suspend(() => {
        const now = corrected.jobsWaitFor()
        if ((now === undefined) === (before === undefined)) return Effect.succeed(now)
        return Effect.as(
          now === undefined
            ? Effect.logInfo("This node's clock agrees with the database's again")
            : Effect.logError(now),
          now
        )
      })

    yield* Effect.replicateEffect(read, READINGS_AT_START)
    let logged = yield* logChange(undefined)
    yield* read.pipe(
      Effect.timeout(READ_WITHIN),
      // The database check reports that it does not respond. The monotonic clock continues meanwhile.
      Effect.ignoreCause,
      Effect.andThen(Effect.suspend(() => logChange(logged))),
      Effect.tap((now) => Effect.sync(() => (logged = now))),
      Effect.delay(READ_EVERY),
      Effect.forever,
      Effect.forkScoped
    )
    corrected.read = storeFailures(read)
  })
)
