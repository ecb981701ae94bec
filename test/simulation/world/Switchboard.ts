/**
 * Injects faults: every request to a port passes here. It may fail before or after its effect, be late, or be the moment of
 * a crash. A dead process never responds, and its open work is undone, as a database does for a lost connection.
 */
import { Context, Deferred, Effect, Fiber } from "effect"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import type { Doubt, Fault } from "./Step.ts"

export const storeFailed = (why: string) =>
  Effect.fail(new StoreUnavailable({ reason: "unreachable", cause: new Error(why) }))

/** The name of its end, as of a question. */
export const UNIT = "UnitOfWork.atomically"

/** As long as `citus.recover_2pc_interval` may be: see docs/scaling-out.md. */
const RECOVERED_MS_MAX = 10_000

const isDoubt = (fault: Fault | undefined): fault is Fault & { readonly kind: Doubt } =>
  fault?.kind === "doubt_kept" || fault?.kind === "doubt_undone"

/** One life of the service's process. */
export interface Process {
  dead: boolean
}

/** A unit of work in which a statement has failed is not kept, whatever its owner makes of the failure. */
const CurrentUnit = Context.Reference<{ lost: boolean } | undefined>("agent-tool-billing/test/simulation/CurrentUnit", {
  defaultValue: () => undefined
})

export interface Question<A, E> {
  /** Port and method. */
  readonly name: string
  readonly process: Process
  readonly ask: Effect.Effect<A, E>
  /** It is answered when time has passed, and not before. */
  readonly takesTime: boolean
  /** How this port says that it failed; `asked`: it was carried out all the same. */
  readonly failing: (asked: boolean) => Effect.Effect<A, E>
  /** Carried out: whatever the service learns of it. */
  readonly onDone?: (answer: A) => void
}

export class Switchboard {
  /** Questions that are being carried out, and units of work that are open. */
  asking = 0
  unitsOpen = 0
  /** Since the beginning: whatever fails after one may be its doing. */
  private disturbances = 0
  /** What was struck by one, and how often. */
  readonly struck = new Map<string, number>()
  private late = 0
  /** Questions that will fail or be late once they are carried out: all callers that wait for the same answer share that. */
  private disturbed = 0
  /** Whether a unit of work is waited for as a whole: where its beginning and its end take the machine's time. */
  private readonly countsUnits: boolean
  private armed: Fault | undefined
  private untilFault = 0

  constructor(countsUnits: boolean) {
    this.countsUnits = countsUnits
  }

  /** Something is being waited for, and others may be waiting for that. */
  get isLate(): boolean {
    return this.late > 0
  }

  /** To be asked when something begins: one that is still late by then may yet be felt. */
  get disturbancesBefore(): number {
    return this.isLate || this.disturbed > 0 ? this.disturbances - 1 : this.disturbances
  }

  wasDisturbedSince(before: number): boolean {
    return this.disturbances > before
  }

  /** By something that is no question to a port. */
  disturb(): void {
    this.disturbances++
  }

  arm(fault: Fault | undefined): void {
    this.armed = fault
    this.untilFault = fault?.at ?? 0
  }

  ask<A, E>(question: Question<A, E>): Effect.Effect<A, E | StoreUnavailable> {
    return Effect.withFiber((fiber) => {
      const unit = fiber.getRef(CurrentUnit)
      if (question.process.dead) return gone(unit)
      const fault = this.draw(question.name)
      const failed = (asked: boolean) => {
        if (unit !== undefined) unit.lost = true
        return question.failing(asked)
      }
      const carriedOut = Effect.flatMap(question.takesTime ? question.ask : this.counted(question.ask), (answer) => {
        question.onDone?.(answer)
        return question.process.dead ? gone(unit) : Effect.succeed(answer)
      })
      const dies = Effect.suspend(() => {
        question.process.dead = true
        return gone(unit)
      })
      switch (fault?.kind) {
        case undefined:
          return carriedOut
        case "doubt_kept":
        case "doubt_undone":
          return Effect.die(new Error("Only units of work can be in doubt"))
        case "error_before":
          return failed(false)
        case "error_after":
          return this.disturbing(Effect.flatMap(carriedOut, () => failed(true)))
        case "late_before":
          return Effect.andThen(
            this.lateBy(fault.ms),
            Effect.suspend(() => (question.process.dead ? gone(unit) : carriedOut))
          )
        case "late_after":
          return this.disturbing(Effect.flatMap(carriedOut, (answer) => Effect.as(this.lateBy(fault.ms), answer)))
        case "crash_before":
          return dies
        case "crash_after":
          return Effect.andThen(carriedOut, dies)
      }
    })
  }

  /**
   * `atomically` as a question of its own: its commit may fail and be taken back, or be carried out and its answer lost; it
   * may come late or never, or be the last thing that is done.
   */
  atomically<A, E, R>(
    process: Process,
    raw: (unit: Effect.Effect<A, E | StoreUnavailable, R>) => Effect.Effect<A, E | StoreUnavailable, R>,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | StoreUnavailable, R> {
    return Effect.withFiber((fiber) => {
      const outer = fiber.getRef(CurrentUnit)
      const unit = { lost: false }
      const inDoubt = Deferred.makeUnsafe<never, StoreUnavailable>()
      let fault: Fault | undefined
      const commit = (value: A): Effect.Effect<A, StoreUnavailable> => {
        if (unit.lost || process.dead) return lost
        if (outer === undefined) fault = this.draw(UNIT)
        if (fault?.kind === "error_before") return lost
        if (isDoubt(fault)) {
          Deferred.doneUnsafe(inDoubt, lost)
          return Effect.andThen(
            this.lateBy(Math.min(fault.ms, RECOVERED_MS_MAX)),
            fault.kind === "doubt_kept" ? Effect.succeed(value) : lost
          )
        }
        if (fault?.kind === "late_before") {
          return Effect.flatMap(this.lateBy(fault.ms), () => (process.dead ? lost : Effect.succeed(value)))
        }
        if (fault?.kind !== "crash_before") return Effect.succeed(value)
        process.dead = true
        return lost
      }
      let isOpen = false
      const whole = raw(
        Effect.suspend(() => {
          if (outer === undefined && !isOpen) {
            isOpen = true
            this.unitsOpen++
          }
          unit.lost = false
          return effect.pipe(Effect.provideService(CurrentUnit, unit), Effect.flatMap(commit))
        })
      )
      if (outer !== undefined) return whole
      // Open until its commit has returned: a check before that would see some of its documents and not the others.
      const counted = Effect.onExit(this.countsUnits ? this.counted(whole) : whole, () =>
        Effect.sync(() => {
          if (isOpen) this.unitsOpen--
        })
      )
      // The unit goes on without its caller, who has lost the connection.
      const told = isDoubt(this.armed)
        ? Effect.flatMap(Effect.forkDetach(counted), (fiber) =>
            Effect.onInterrupt(Effect.raceFirst(Fiber.join(fiber), Deferred.await(inDoubt)), () =>
              isDoubt(fault) ? Effect.void : Fiber.interrupt(fiber)
            )
          )
        : counted
      return Effect.flatMap(Effect.exit(told), (exit) => {
        if (process.dead) return never
        if (exit._tag === "Failure") return exit
        if (fault?.kind === "error_after") return lost
        if (fault?.kind === "late_after") return Effect.as(this.lateBy(fault.ms), exit.value)
        if (fault?.kind !== "crash_after") return exit
        process.dead = true
        return never
      })
    })
  }

  private disturbing<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.disturbed++
      return Effect.onExit(effect, () => Effect.sync(() => this.disturbed--))
    })
  }

  private lateBy(ms: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.late++
      return Effect.onExit(Effect.sleep(ms), () => Effect.sync(() => this.late--))
    })
  }

  private draw(name: string): Fault | undefined {
    if (this.armed === undefined || (isDoubt(this.armed) && name !== UNIT)) return undefined
    if (this.untilFault-- > 0) return undefined
    const fault = this.armed
    this.armed = undefined
    this.disturbances++
    this.struck.set(name, (this.struck.get(name) ?? 0) + 1)
    return fault
  }

  private counted<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.asking++
      return Effect.onExit(effect, () => Effect.sync(() => this.asking--))
    })
  }
}

/** Unlike `Effect.never` it keeps nothing alive. */
export const never = Effect.callback<never>(() => {})

const lost = storeFailed("The connection to the store was lost")

const gone = (unit: { lost: boolean } | undefined): Effect.Effect<never, StoreUnavailable> =>
  unit === undefined ? never : lost
