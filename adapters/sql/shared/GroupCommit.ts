/**
 * Natural batching: items that arrive while a batch runs form the next batch, which is one durable statement. There is
 * no timer: an idle lane sends the items of the current turn of the event loop at its end, or earlier if there are enough:
 * the database then works while Node still reads the other requests of the turn.
 *
 * If the connection breaks, the outcome of a batch is unknown. The batch is sent again with `again`, and `run` must
 * find out for each item whether it was done. A batch that the database rejects is halved until the failing item is
 * alone, so that only its caller sees the failure. After a lock timeout, `lockedOut` finds the items that wait for a
 * lock: with halving, each half would wait as long again.
 */
import { type Cause, Effect, Exit, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { isConflict, isLockedOut, isLockTimeout, raiseAll } from "./SqlFailures.ts"

export interface GroupCommitOptions<Item, Answer> {
  readonly name: string
  /** The maximum number of items in one batch. */
  readonly batchMax: number
  /** An idle lane sends at once when this many items wait. Of a long queue, half is sent at a time. */
  readonly batchEnough: number
  /** The maximum total of `weightOf` in one batch; a heavier item is sent alone. */
  readonly batchWeightMax: number
  readonly weightOf: (item: Item) => number
  /** Two items of the same key are never in one batch. Undefined: the item may be in any batch. */
  readonly keyOf?: (item: Item) => string | undefined
  /** The maximum number of waiting items. The lane rejects more, so that a slow database cannot fill the memory. */
  readonly queueMax: number
  /** Finds, after a lock timeout, the items that wait for a lock of another transaction. */
  readonly lockedOut?: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlySet<Item>, SqlError.SqlError>
  /** One result per item, in the same order. `again`: an earlier attempt may have succeeded for some items. */
  readonly run: (items: ReadonlyArray<Item>, again: boolean) => Effect.Effect<ReadonlyArray<Answer>, SqlError.SqlError>
}

/** A multiple of `batchEnough`: so many items may be in one batch, even if they are more than half of the queue. */
const SPREAD_FROM = 4

/** A broken connection or a deadlock is followed by 6 more attempts within about 3 s, fewer if each of them takes long. */
const retrySchedule = Schedule.exponential("50 millis").pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 6, duration: "5 seconds" })
)

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resume: (effect: Effect.Effect<Answer, StoreUnavailable>) => void
  gone: boolean
}

/** An item interrupted while it waits is not sent. An item interrupted later may still have been done. */
export const make = Effect.fnUntraced(function* <Item, Answer>(
  options: GroupCommitOptions<Item, Answer>
): Effect.fn.Return<(item: Item) => Effect.Effect<Answer, StoreUnavailable>, never, Scope.Scope> {
  let queue: Array<Waiting<Item, Answer>> = []
  let closed = false
  /** Defined while the lane is idle: its next batch is taken at the end of this turn of the event loop. */
  let wake: (() => void) | undefined
  /** Takes the batch now. Defined after `wake` was called, until the batch is taken. */
  let begin: (() => void) | undefined

  const submit = (item: Item): Effect.Effect<Answer, StoreUnavailable> =>
    Effect.callback((resume) => {
      if (closed) return resume(Effect.interrupt)
      if (queue.length >= options.queueMax) {
        const cause = new Error(`The lane ${options.name} has ${queue.length} waiting requests, its limit`)
        return resume(new StoreUnavailable({ reason: "overloaded", cause }))
      }
      const waiting: Waiting<Item, Answer> = { item, resume, gone: false }
      queue.push(waiting)
      wake?.()
      if (queue.length >= options.batchEnough) begin?.()
      return Effect.sync(() => {
        waiting.gone = true
      })
    })

  const arrival = Effect.callback<void>((resume) => {
    wake = () => {
      wake = undefined
      begin = () => {
        begin = undefined
        clearImmediate(endOfTurn)
        resume(Effect.void)
      }
      const endOfTurn = setImmediate(begin)
    }
    if (queue.length > 0) wake()
  })

  const take = (): ReadonlyArray<Waiting<Item, Answer>> => {
    const batch: Array<Waiting<Item, Answer>> = []
    const keys = new Set<string>()
    // The calls of one batch reach their next step together. Half of a burst lets the steps of the two halves overlap.
    const most = Math.min(options.batchMax, Math.max(SPREAD_FROM * options.batchEnough, queue.length >> 1))
    let weight = 0
    let taken = 0
    for (const next of queue) {
      if (batch.length === most) break
      if (!next.gone) {
        weight += options.weightOf(next.item)
        if (batch.length > 0 && weight > options.batchWeightMax) break
        const key = options.keyOf?.(next.item)
        if (key !== undefined) {
          if (keys.has(key)) break
          keys.add(key)
        }
        batch.push(next)
      }
      taken++
    }
    queue = queue.slice(taken)
    return batch
  }

  const settle = Effect.fnUntraced(function* (
    batch: ReadonlyArray<Waiting<Item, Answer>>,
    mayHaveCommittedBefore: boolean
  ): Effect.fn.Return<void> {
    let mayHaveCommitted = mayHaveCommittedBefore
    const items = batch.map((waiting) => waiting.item)
    const exit = yield* Effect.suspend(() => options.run(items, mayHaveCommitted)).pipe(
      Effect.tapError((error) =>
        Effect.sync(() => {
          mayHaveCommitted ||= error.reason._tag === "ConnectionError"
        })
      ),
      Effect.retry({ while: isPassing, schedule: retrySchedule }),
      Effect.exit
    )
    if (Exit.isSuccess(exit)) {
      batch.forEach((waiting, i) => waiting.resume(Effect.succeed(exit.value[i]!)))
      return
    }
    const failure = Effect.failCause(raiseAll(exit.cause))
    if (batch.length === 1 || failedBy(isPassing, exit.cause) || failedBy(isLockedOut, exit.cause)) {
      // While the database is unavailable, halving finds no failing item.
      for (const waiting of batch) waiting.resume(failure)
    } else {
      const locked = yield* lockedOutOf(items, exit.cause)
      if (locked.size > 0) {
        for (const waiting of batch) if (locked.has(waiting.item)) waiting.resume(failure)
        const free = batch.filter((waiting) => !locked.has(waiting.item))
        if (free.length > 0) yield* settle(free, mayHaveCommitted)
        return
      }
      const half = batch.length >> 1
      yield* settle(batch.slice(0, half), mayHaveCommitted)
      yield* settle(batch.slice(half), mayHaveCommitted)
    }
  })

  const lockedOutOf = (items: ReadonlyArray<Item>, cause: Cause.Cause<SqlError.SqlError>) =>
    options.lockedOut !== undefined && failedBy(isLockTimeout, cause)
      ? Effect.orElseSucceed(options.lockedOut(items), () => new Set<Item>())
      : Effect.succeed(new Set<Item>())

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      for (const waiting of queue) waiting.resume(Effect.interrupt)
      queue = []
    })
  )
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      while (true) {
        yield* arrival
        const batch = take()
        if (batch.length > 0) yield* Effect.uninterruptible(settle(batch, false))
      }
    })
  )
  return submit
})

/** Another attempt may succeed. Not after a timeout: halving separates an item that waits for a lock from the rest. */
const isPassing = (error: SqlError.SqlError): boolean => error.reason._tag === "ConnectionError" || isConflict(error)

const failedBy = (is: (error: SqlError.SqlError) => boolean, cause: Cause.Cause<SqlError.SqlError>): boolean =>
  cause.reasons.some((reason) => reason._tag === "Fail" && is(reason.error))
