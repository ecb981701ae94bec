/**
 * After every loss of the database's connection, compares the calls that this node closed last with the database. A new
 * primary may lack the last commits of the old one, and a server that runs without durability those before its crash.
 * Calls that are still open are closed again; the others are recorded as lost.
 */
import { Cause, Effect, Layer, Stream } from "effect"
import { ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { closeAgain } from "./ClosedAgain.ts"
import { recordLost } from "./LostCalls.ts"
import { type ClosedTogether, RecentClosings } from "./RecentClosings.ts"

const COMPARED_AT_ONCE_MAX = 1_000
/** The connection may have been lost this long before it was noticed. Calls since then are all compared. */
const NOTICED_WITHIN_MS = 30_000
/** While the connection is lost, its readers are told repeatedly. */
const COMPARE_EVERY = "2 seconds"
const NAMED_AT_ONCE_MAX = 50

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const recent = yield* RecentClosings
    if (recent === undefined) return
    const feed = yield* ChangeFeed
    const sql = yield* storeSql
    let lostAtMs: number | undefined

    /** Commits are lost from the end: before a part that is there, everything is there. */
    const compare = Effect.fnUntraced(function* (sinceMs: number) {
      const lost: Array<string> = []
      let closedAgain = 0
      for (const part of partsOf(recent.all())) {
        const again = yield* closeAgain(sql, part)
        const found = yield* recordLost(sql, part, true)
        closedAgain += again.length
        lost.push(...found)
        if (found.length + again.length === 0 && part[0]!.atMs < sinceMs) break
      }
      if (closedAgain > 0) {
        yield* Effect.logWarning(
          `The database lost the end of ${closedAgain} calls that were acknowledged. They were closed again by the same receipts.`
        )
      }
      for (let n = 0; n < lost.length; n += NAMED_AT_ONCE_MAX) {
        yield* Effect.logError(
          `The database lost ${lost.length} calls that were settled and acknowledged. They are not charged: ` +
            `${lost.slice(n, n + NAMED_AT_ONCE_MAX).join(", ")}. See docs/high-availability.md.`
        )
      }
    })

    const round = Effect.suspend(() => {
      if (lostAtMs === undefined) return Effect.void
      const since = lostAtMs - NOTICED_WITHIN_MS
      lostAtMs = undefined
      return Effect.catchCause(compare(since), (cause) =>
        Effect.andThen(
          Effect.logWarning("The last calls could not be compared with the database; it is tried again", cause),
          Effect.sync(() => (lostAtMs = since + NOTICED_WITHIN_MS))
        ).pipe(Effect.andThen(Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.void))
      )
    })

    yield* feed.changes.pipe(
      Stream.filter(({ topic }) => topic === "everything"),
      Stream.runForEach(() => Effect.map(monotonicNowMs, (nowMs) => void (lostAtMs ??= nowMs))),
      Effect.forkScoped({ startImmediately: true })
    )
    yield* round.pipe(Effect.andThen(Effect.sleep(COMPARE_EVERY)), Effect.forever, Effect.forkScoped)
  })
)

function* partsOf(closings: Iterable<ClosedTogether>): Generator<ReadonlyArray<ClosedTogether>> {
  let part: Array<ClosedTogether> = []
  let calls = 0
  for (const one of closings) {
    part.push(one)
    calls += one.calls
    if (calls < COMPARED_AT_ONCE_MAX) continue
    yield part
    part = []
    calls = 0
  }
  if (part.length > 0) yield part
}
