/**
 * A round of background work over many items. An item that fails does not keep the others waiting: the round goes on, and
 * fails at its end, so that its job is logged and becomes late if this persists.
 */
import { Cause, Effect, Exit } from "effect"
import { StoreUnavailable } from "./StoreUnavailable.ts"

/** So many items in a row, and it is the store that fails, not the items: the round ends early. */
export const UNAVAILABLE_IN_A_ROW_MAX = 5

export interface RoundOptions<Item, A, E> {
  /** Precedes the number of failures in the log: "Payouts that could not be continued". */
  readonly failing: string
  /** Default: one after the other. */
  readonly concurrency?: number
  work(item: Item): Effect.Effect<A, E>
}

export interface Pages<Item, E> {
  readonly pageMax: number
  /** Returns fewer than `pageMax` items at the end. */
  read(after: Item | undefined): Effect.Effect<ReadonlyArray<Item>, E>
}

/** Returns the results in the order in which they arrived. */
export const round = <Item, A, E>(
  items: ReadonlyArray<Item>,
  options: RoundOptions<Item, A, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  roundOfPages({ pageMax: items.length + 1, read: () => Effect.succeed(items) }, options)

export const roundOfPages = Effect.fnUntraced(function* <Item, A, E, E2>(
  { pageMax, read }: Pages<Item, E>,
  { concurrency = 1, failing, work }: RoundOptions<Item, A, E2>
): Effect.fn.Return<ReadonlyArray<A>, E | E2> {
  const results: Array<A> = []
  const failures: Array<Cause.Cause<E2>> = []
  let unavailableInARow = 0
  const isStoreAway = () => unavailableInARow >= UNAVAILABLE_IN_A_ROW_MAX

  const note = Effect.fnUntraced(function* (exit: Exit.Exit<A, E2>) {
    unavailableInARow = Exit.isFailure(exit) && isOfStore(exit.cause) ? unavailableInARow + 1 : 0
    if (Exit.isSuccess(exit)) return void results.push(exit.value)
    const isFirstDefect = Cause.hasDies(exit.cause) && !failures.some(Cause.hasDies)
    failures.push(exit.cause)
    // This is logged at once: the round may be interrupted before its end, or may not be able to read the next page.
    if (isFirstDefect) yield* Effect.logError(`${failing}, because of a defect:`, exit.cause)
  })
  const one = (item: Item) =>
    Effect.suspend(() => (isStoreAway() ? Effect.void : Effect.flatMap(Effect.exit(work(item)), note)))

  let after: Item | undefined
  do {
    const items: ReadonlyArray<Item> = yield* read(after)
    yield* Effect.forEach(items, one, { concurrency, discard: true })
    after = items.length < pageMax ? undefined : items.at(-1)
  } while (after !== undefined && !isStoreAway())

  if (failures.length === 0) return results
  const rest = isStoreAway() ? "; the others wait for the next round, because the store is unavailable" : ""
  yield* Effect.logError(`${failing}: ${failures.length}${rest}`)
  // A defect needs a person, so it is not hidden behind a store that was busy.
  return yield* Effect.failCause(failures.find(Cause.hasDies) ?? failures[0]!)
})

/** Runs both, one after the other, whether or not the first succeeds. Fails with the causes of both. */
export const bothOf = <A, E, R, B, E2, R2>(
  first: Effect.Effect<A, E, R>,
  second: Effect.Effect<B, E2, R2>
): Effect.Effect<readonly [A, B], E | E2, R | R2> =>
  Effect.flatMap(Effect.all([Effect.exit(first), Effect.exit(second)]), ([one, other]) => {
    if (Exit.isSuccess(one)) return Effect.map(other, (value) => [one.value, value] as const)
    return Effect.failCause<E | E2>(Exit.isFailure(other) ? Cause.combine(one.cause, other.cause) : one.cause)
  })

/** `busy` may be a lock on the rows of one item. */
const isOfStore = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) => reason._tag === "Fail" && reason.error instanceof StoreUnavailable && reason.error.reason !== "busy"
  )
