/**
 * Limits what runs at once of each key, such as the calls of an account: in one process, or in all workers of a node.
 */
import { Effect } from "effect"

export interface Slots {
  /** Whether there is room. A worker answers later where it must ask its supervisor. */
  take(key: string): boolean | Effect.Effect<boolean>
  leave(key: string): void
}

/** `what` keeps the keys of one limit apart from those of others. `max` of 0: no limit. */
export type SlotsOf = (what: string, max: number) => Slots

export const ownSlots = (max: number): Slots => {
  const counts = new Map<string, number>()
  return {
    take: (key) => {
      const count = counts.get(key) ?? 0
      if (count >= max && max > 0) return false
      counts.set(key, count + 1)
      return true
    },
    leave: (key) => {
      const left = counts.get(key)! - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }
}

/** Lends slots of a pool to workers. */
export interface SlotLender {
  /** Not interrupted: an answer that nothing waits for would leave a slot taken. */
  borrow(key: string, poolMax: number): Effect.Effect<boolean>
  giveBack(key: string): void
}

/**
 * One worker's slots. Half of the limit is divided among the workers, which need not ask for their share; the other half is
 * lent to those that ask first. So `workers` together never have more than `max`.
 */
export const workerSlots =
  (workers: number, { borrow, giveBack }: SlotLender): SlotsOf =>
  (what, max) => {
    if (max === 0) return ownSlots(0)
    const share = Math.floor(max / 2 / workers)
    const poolMax = max - share * workers
    const keys = new Map<string, { taken: number; lent: number }>()
    const used = (key: string) => keys.get(key) ?? { taken: 0, lent: 0 }
    const enter = (key: string, isLent: boolean): true => {
      const { lent, taken } = used(key)
      keys.set(key, { taken: taken + 1, lent: isLent ? lent + 1 : lent })
      return true
    }
    return {
      take: (key) => {
        const { lent, taken } = used(key)
        return taken < share + lent
          ? enter(key, false)
          : Effect.map(borrow(`${what} ${key}`, poolMax), (isLent) => isLent && enter(key, true))
      },
      leave: (key) => {
        const known = used(key)
        const taken = known.taken - 1
        const lent = Math.min(known.lent, Math.max(0, taken - share))
        for (let n = lent; n < known.lent; n++) giveBack(`${what} ${key}`)
        if (taken === 0) keys.delete(key)
        else keys.set(key, { taken, lent })
      }
    }
  }
