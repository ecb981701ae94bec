/**
 * A call whose idempotency key belongs to a call in flight, on any node, joins it: it waits for that call's response, and
 * returns the same bytes.
 */
import { Clock, Effect } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { zero } from "../shared/Microcents.ts"
import { monotonicMs } from "../shared/Time.ts"
import type { CallOutcome, CallRequest, Unsettled } from "./Call.ts"
import { CallInFlight, rejectionOf } from "./CallRejections.ts"
import { type CallIdempotency, CallStore } from "./CallStore.ts"
import { replayed, type ResultNotRetained } from "./RetainedResults.ts"

/** Longer than most calls take without questions and progress. */
export const JOINED_MS_MAX = 30_000
/** Per account and node: each of them reads the store while it waits. */
export const JOINED_CALLS_MAX = 16
const READ_EVERY_MS_MIN = 25
const READ_EVERY_MS_MAX = 1_000

export const makeJoinedCalls = Effect.gen(function* () {
  const calls = yield* CallStore
  const clock = yield* Clock.Clock
  const counts = new Map<ConsumerId, number>()

  /** `call` runs again if the call in flight ends without a response: then its key is unused. */
  const wait = Effect.fnUntraced(function* <A, E>(
    consumerId: ConsumerId,
    idempotency: CallIdempotency,
    inFlight: CallInFlight,
    call: Effect.Effect<A, E>
  ) {
    const untilMs = monotonicMs(clock) + JOINED_MS_MAX
    for (let delayMs = READ_EVERY_MS_MIN; monotonicMs(clock) + delayMs <= untilMs; delayMs = nextDelay(delayMs)) {
      yield* Effect.sleep(delayMs)
      const earlier = yield* calls.earlier(consumerId, idempotency)
      if (earlier === undefined) {
        const again = yield* Effect.result(call)
        if (again._tag === "Success") return again.success
        if (!(again.failure instanceof CallInFlight)) return yield* Effect.fail(again.failure)
      } else if (earlier._tag !== "InFlight") {
        return yield* Effect.flatMap(rejectionOf(earlier, zero), replayed)
      }
    }
    return yield* inFlight
  })

  /** `call`, or the call in flight that it joins. */
  return <A, E>(
    { consumerId, idempotency, onWait }: Pick<CallRequest, "consumerId" | "idempotency" | "onWait">,
    call: Effect.Effect<A, E | CallInFlight>
  ): Effect.Effect<A | CallOutcome, E | CallInFlight | JoinFailure> =>
    idempotency === undefined
      ? call
      : Effect.catchIf(
          call,
          (failure) => failure instanceof CallInFlight,
          (inFlight) => {
            const count = counts.get(consumerId) ?? 0
            if (count >= JOINED_CALLS_MAX) return Effect.fail(inFlight)
            counts.set(consumerId, count + 1)
            onWait?.(JOINED_MS_MAX)
            return Effect.ensuring(
              wait(consumerId, idempotency, inFlight, call),
              Effect.sync(() => {
                const left = counts.get(consumerId)! - 1
                if (left === 0) counts.delete(consumerId)
                else counts.set(consumerId, left)
              })
            )
          }
        )
})

type JoinFailure = Effect.Error<ReturnType<typeof rejectionOf>> | ResultNotRetained | Unsettled

const nextDelay = (delayMs: number): number => Math.min(delayMs * 2, READ_EVERY_MS_MAX)
