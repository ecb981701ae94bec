/**
 * How long the sequencer may pause. This node closes its calls itself, so a node without calls has nothing to add but what
 * other nodes left: those that died, or that skipped the log while this node had its lock.
 */
import { Duration, Effect } from "effect"
import { CallTally } from "../metering/CallTally.ts"
import { giveUpAfter } from "../shared/GiveUpAfter.ts"
import { LogStore } from "./LogStore.ts"

const REST_MAX = Duration.seconds(5)
/** Receipts wait, and another node may be adding them. */
const REST_MAX_WAITING = Duration.seconds(1)
/** A connection may have gone silent: the next round detects it. */
const WAITING_LIMIT = Duration.seconds(5)

/** Ends at the next call of this node, immediately if there was one since the last rest. */
export const logRest = Effect.gen(function* () {
  const tally = yield* CallTally
  const store = yield* LogStore
  let seen = tally.total
  const rest = Effect.gen(function* () {
    if (tally.total === seen) {
      const waiting = yield* store.waiting.pipe(
        giveUpAfter(WAITING_LIMIT),
        Effect.catchCause(() => Effect.succeed(true))
      )
      const call = Effect.suspend(() => (tally.total === seen ? tally.next : Effect.void))
      yield* Effect.timeoutOption(call, waiting ? REST_MAX_WAITING : REST_MAX)
    }
    seen = tally.total
  })
  return { rest }
})
