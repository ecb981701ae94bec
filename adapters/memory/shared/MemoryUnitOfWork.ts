/**
 * Transactions over plain Maps: one at a time. A failed unit of work undoes its writes in reverse order. Every write of
 * a memory store registers its undo. Nested units are savepoints, as in PostgreSQL.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"

/** The undo steps of a unit of work, newest last, and the effects to run after it commits. */
interface Journal {
  readonly undo: Array<() => void>
  readonly afterCommit: Array<Effect.Effect<void>>
  /** Nested units run one at a time, so that they cannot undo each other's writes. */
  readonly inner: Semaphore.Semaphore
}

const CurrentJournal = Context.Reference<Journal | undefined>("agent-tool-billing/adapters/memory/CurrentJournal", {
  defaultValue: () => undefined
})

/** Applies a write and registers its undo with the surrounding unit of work. */
export const write = <A>(apply: () => A, revert: (done: A) => void): Effect.Effect<A> =>
  Effect.withFiber((fiber) => {
    const journal = fiber.getRef(CurrentJournal)
    const done = apply()
    if (journal !== undefined) journal.undo.push(() => revert(done))
    return Effect.succeed(done)
  })

/** `map.set`, undone on failure. */
export const put = <K, V>(map: Map<K, V>, key: K, value: V): Effect.Effect<void> =>
  changing(map, key, () => map.set(key, value))

/** `map.delete`, undone on failure; the restored row is then the newest of its map. */
export const remove = <K, V>(map: Map<K, V>, key: K): Effect.Effect<void> => changing(map, key, () => map.delete(key))

const changing = <K, V>(map: Map<K, V>, key: K, change: () => void): Effect.Effect<void> =>
  Effect.asVoid(
    write(
      () => {
        const before = { had: map.has(key), value: map.get(key) }
        change()
        return before
      },
      (before) => (before.had ? map.set(key, before.value as V) : map.delete(key))
    )
  )

/** Runs after the outermost unit of work commits, or immediately outside of one. */
export const afterCommit = (effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const journal = fiber.getRef(CurrentJournal)
    if (journal === undefined) return effect
    return Effect.sync(() => {
      journal.afterCommit.push(effect)
    })
  })

export const layer = Layer.sync(UnitOfWork, () => {
  const oneAtATime = Semaphore.makeUnsafe(1)
  return UnitOfWork.of({
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.withFiber<A, E, R>((fiber) => {
        const outer = fiber.getRef(CurrentJournal)
        const journal: Journal = { undo: [], afterCommit: [], inner: Semaphore.makeUnsafe(1) }
        let kept = false
        // Settled in a finalizer, so that an interruption between two steps cannot leave the unit half settled.
        const unit = effect.pipe(
          Effect.provideService(CurrentJournal, journal),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              kept = exit._tag === "Success"
              if (!kept) rollBack(journal)
              else if (outer !== undefined) mergeInto(journal, outer)
            })
          )
        )
        if (outer !== undefined) return outer.inner.withPermit(unit)
        return Effect.onExit(oneAtATime.withPermit(unit), () => (kept ? signal(journal) : Effect.void))
      })
  })
})

const rollBack = (journal: Journal): void => {
  for (let i = journal.undo.length - 1; i >= 0; i--) journal.undo[i]!()
}

const mergeInto = (inner: Journal, outer: Journal): void => {
  outer.undo.push(...inner.undo)
  outer.afterCommit.push(...inner.afterCommit)
}

const signal = (journal: Journal): Effect.Effect<void> =>
  Effect.forEach(journal.afterCommit, (effect) => Effect.ignoreCause(effect, { log: "Unhandled" }), { discard: true })
