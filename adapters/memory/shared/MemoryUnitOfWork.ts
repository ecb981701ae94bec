/**
 * Transactions over plain Maps: one at a time, undone step by step in reverse when they fail.
 * Every memory store that writes registers how to take the write back; nested units are savepoints, as in PostgreSQL.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { UnitOfWork } from "../../../domain/shared/UnitOfWork.ts"

/** What a unit of work has done so far, newest last, and what to do once it is kept. */
interface Journal {
  readonly undo: Array<() => void>
  readonly afterCommit: Array<Effect.Effect<void>>
  /** Units inside this one run one at a time, or they would undo each other's writes. */
  readonly inner: Semaphore.Semaphore
}

const CurrentJournal = Context.Reference<Journal | undefined>("agent-tool-billing/adapters/memory/CurrentJournal", {
  defaultValue: () => undefined
})

/** Does a write and remembers how to take it back if the unit of work around it fails. */
export const write = <A>(doIt: () => A, undoIt: (done: A) => void): Effect.Effect<A> =>
  Effect.withFiber((fiber) => {
    const journal = fiber.getRef(CurrentJournal)
    const done = doIt()
    if (journal !== undefined) journal.undo.push(() => undoIt(done))
    return Effect.succeed(done)
  })

/** `map.set`, taken back on failure. */
export const put = <K, V>(map: Map<K, V>, key: K, value: V): Effect.Effect<void> =>
  Effect.asVoid(
    write(
      () => {
        const before = { had: map.has(key), value: map.get(key) }
        map.set(key, value)
        return before
      },
      (before) => (before.had ? map.set(key, before.value as V) : map.delete(key))
    )
  )

/** `map.delete`, taken back on failure; the row is then the newest of its map. */
export const remove = <K, V>(map: Map<K, V>, key: K): Effect.Effect<void> =>
  Effect.asVoid(
    write(
      () => {
        const before = { had: map.has(key), value: map.get(key) }
        map.delete(key)
        return before
      },
      (before) => before.had && map.set(key, before.value as V)
    )
  )

/** Runs once the outermost unit of work is kept, or now where there is none. */
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
        // Settled in a finalizer: an interruption that comes between two steps must not find half of it done.
        const unit = effect.pipe(
          Effect.provideService(CurrentJournal, journal),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              kept = exit._tag === "Success"
              if (!kept) takeBack(journal)
              else if (outer !== undefined) handOver(journal, outer)
            })
          )
        )
        if (outer !== undefined) return outer.inner.withPermit(unit)
        return Effect.onExit(oneAtATime.withPermit(unit), () => (kept ? signal(journal) : Effect.void))
      })
  })
})

const takeBack = (journal: Journal): void => {
  for (let i = journal.undo.length - 1; i >= 0; i--) journal.undo[i]!()
}

const handOver = (inner: Journal, outer: Journal): void => {
  outer.undo.push(...inner.undo)
  outer.afterCommit.push(...inner.afterCommit)
}

const signal = (journal: Journal): Effect.Effect<void> =>
  Effect.forEach(journal.afterCommit, (effect) => Effect.ignoreCause(effect, { log: "Unhandled" }), { discard: true })
