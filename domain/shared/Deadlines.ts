/**
 * Time limits for many items at once: one coarse sweep over all of them instead of a timer each. Never early, late by
 * at most twice `SWEEP_EVERY`; without items there is no timer. No clock reads or hashing per deadline, because this is
 * on the hot path.
 */
import { type Cause, Clock, Duration, Effect, Fiber, type Scope } from "effect"
import { monotonicMs } from "./Time.ts"

// A doubly linked ring, for what comes and goes with every call: removal needs no search and no hashing. A removed item refers
// to no other, so that the garbage collector frees each on its own. The former tables of a Map, which refer to their
// successors, kept more alive.

export class RingItem {
  before: RingItem = this
  after: RingItem = this

  get isAlone(): boolean {
    return this.after === this
  }

  /** Adds it behind all that were added to this one before. */
  add(item: RingItem): void {
    item.before = this.before
    item.after = this
    this.before.after = item
    this.before = item
  }

  /** Takes it out of its ring. Whether it was in one. */
  end(): boolean {
    if (this.isAlone) return false
    this.before.after = this.after
    this.after.before = this.before
    this.before = this
    this.after = this
    return true
  }
}

export interface Deadline {
  /** Restarts the time limit from now. */
  restart(ms: number): void
  end(): boolean
}

export interface Deadlines {
  /** `onLate` is called once, unless the deadline ends before. */
  start(ms: number, onLate: () => void): Deadline
  /** All of them are late now. */
  endAll(): void
}

export const SWEEP_EVERY = Duration.millis(250)
const SWEEP_MS = Duration.toMillis(SWEEP_EVERY)

export const makeDeadlines: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const ring = new Ring(() => monotonicMs(clock))

  const hasDeadlines = Effect.callback<void>((resume) => {
    if (!ring.isAlone) return resume(Effect.void)
    ring.onFirst = () => {
      ring.onFirst = undefined
      resume(Effect.void)
    }
  })
  const sweep = Effect.sync(() => ring.sweep())
  // Immediately: the first deadline may start before a fiber that is only scheduled.
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(hasDeadlines, Effect.andThen(Effect.sleep(SWEEP_EVERY), sweep))),
    { startImmediately: true }
  )

  return { start: (ms, onLate) => new Running(ring, ms, onLate), endAll: () => ring.endLate(Number.POSITIVE_INFINITY) }
})

class Ring extends RingItem {
  /** Time of the last sweep, at most one interval ago. */
  nowMs: number
  onFirst: (() => void) | undefined = undefined
  private readonly readClock: () => number

  constructor(readClock: () => number) {
    super()
    this.readClock = readClock
    this.nowMs = readClock()
  }

  override add(running: Running): void {
    if (this.onFirst !== undefined) {
      this.nowMs = this.readClock()
      this.onFirst()
    }
    super.add(running)
  }

  sweep(): void {
    this.nowMs = this.readClock()
    this.endLate(this.nowMs)
  }

  endLate(nowMs: number): void {
    const late: Array<Running> = []
    for (let each = this.after; each instanceof Running; each = each.after) {
      if (each.lateAtMs <= nowMs) late.push(each)
    }
    // A callback may end other deadlines.
    for (const running of late) {
      const { onLate } = running
      if (running.end()) onLate()
    }
  }
}

const nothing = () => {}

class Running extends RingItem implements Deadline {
  lateAtMs = 0
  onLate: () => void
  private readonly ring: Ring

  constructor(ring: Ring, ms: number, onLate: () => void) {
    super()
    this.ring = ring
    this.onLate = onLate
    ring.add(this)
    this.restart(ms)
  }

  /** What has ended keeps nothing of its call alive. */
  override end(): boolean {
    this.onLate = nothing
    return super.end()
  }

  restart(ms: number): void {
    this.lateAtMs = this.ring.nowMs + SWEEP_MS + ms
  }
}

// A time limit that applies even if the interrupted effect does not end, such as a query to a silent database.

export const giveUpAfter =
  (limit: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Cause.TimeoutError, R> =>
    Effect.flatMap(Effect.forkDetach(effect), (fiber) =>
      Fiber.join(fiber).pipe(
        Effect.timeout(limit),
        Effect.onError(() => Effect.forkDetach(Fiber.interrupt(fiber)))
      )
    )
