/**
 * The whole service in one process, its stores and its surroundings, under a simulated clock. Stores survive a crash of the
 * process; the next process starts on them.
 */
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Dispatcher } from "../../../adapters/http/pipeline/Dispatcher.ts"
import type { Entropy } from "../../../domain/shared/Cryptography.ts"
import * as SeededEntropy from "../../../testing/SeededEntropy.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import type { Call } from "../../support/market/ServiceUnderTest.ts"
import { Calendar } from "./Calendar.ts"
import { exchange } from "../books/Exchange.ts"
import { type Facts, listening, noFacts } from "../books/Facts.ts"
import { type Ports, portsThrough, type Stores } from "../parts/Ports.ts"
import { Processor } from "../parts/Processor.ts"
import { gatewayOf } from "../parts/ProcessorGateway.ts"
import { Providers } from "../parts/Providers.ts"
import { serviceOn, type Services } from "../parts/Service.ts"
import { never, type Process, Switchboard } from "./Switchboard.ts"
import type { Terms } from "../books/Terms.ts"
import type { Violation } from "../books/Violation.ts"

const BEGINNING = Date.parse("2026-11-20T10:00:00.000Z")

interface Running {
  readonly process: Process
  readonly ports: Context.Context<Ports>
  readonly services: Context.Context<Services>
  readonly scope: Scope.Closeable
}

export interface World {
  readonly facts: Facts
  readonly terms: Terms
  readonly processor: Processor
  readonly providers: Providers
  readonly board: Switchboard
  /** What went wrong in things that were in progress. */
  readonly violations: Array<Violation>
  /** As they are, past the switchboard. */
  readonly stores: Context.Context<Stores>
  /** Of the process that runs now. */
  service<I extends Services, S>(tag: Context.Key<I, S>): S
  port<I extends Ports, S>(tag: Context.Key<I, S>): S
  /** Never answered where the process dies meanwhile, nor where the one that the sender began with is dead. */
  send(call: Call): Effect.Effect<Answer>
  /** Begins something; `ended` is told how it went, if its process lived to see it. */
  begin<A, E>(doing: Effect.Effect<A, E>, ended: (exit: Exit.Exit<A, E>) => void): Effect.Effect<void>
  underWay(): number
  readonly kill: Effect.Effect<void>
  /** How many processes there were. */
  lives(): number
  /** Another process, where the one before is dead. */
  readonly revive: Effect.Effect<boolean>
  readonly pass: (ms: number) => Effect.Effect<void>
  /** The clock on the wall is set; no time passes. */
  setCalendarBy(ms: number): Effect.Effect<void>
}

export interface Setting {
  /** Fresh ones. */
  readonly stores: Context.Context<Stores>
  readonly seed: number
  readonly terms: Terms
  /** What the service goes by. */
  readonly serviceTerms: Terms
  readonly plant: (stores: Context.Context<Stores>) => Context.Context<Stores>
  readonly isAsynchronous: boolean
}

export const makeWorld = Effect.fnUntraced(function* (setting: Setting) {
  const { isAsynchronous, plant, seed, serviceTerms, stores, terms } = setting
  const scope = yield* Effect.scope
  const calendar = yield* Calendar
  const clock = yield* Clock.Clock
  const facts = noFacts()
  const board = new Switchboard(isAsynchronous)
  const processor = new Processor(
    () => board.disturb(),
    () => facts.words
  )
  const providers = new Providers()
  const entropy = yield* Layer.buildWithScope(SeededEntropy.layer(seed), scope)
  const outside = yield* Layer.buildWithScope(Layer.merge(gatewayOf(processor), providers.layer), scope)
  const ports: Context.Context<Ports> = Context.merge(plant(stores), outside)
  const service = Layer.orDie(serviceOn(serviceTerms))
  const listener = listening(facts, () => clock.currentTimeMillisUnsafe())
  /** What an actor does, which may take longer than its step. */
  const underWay = new Set<{ readonly process: Process }>()
  yield* TestClock.setTime(BEGINNING)

  const start = Effect.fnUntraced(function* () {
    const process: Process = { dead: false }
    const processScope = yield* Scope.make()
    const asked = portsThrough(ports, board, process, listener)
    const given: Context.Context<Ports | Entropy> = Context.merge(asked, entropy)
    const services = yield* Layer.buildWithMemoMap(
      Layer.provide(service, Layer.succeedContext(given)),
      Layer.makeMemoMapUnsafe(),
      processScope
    )
    const running: Running = { process, ports: asked, services, scope: processScope }
    return running
  })
  let running = yield* start()
  let lives = 1

  const begin = Effect.fnUntraced(function* <A, E>(doing: Effect.Effect<A, E>, ended: (exit: Exit.Exit<A, E>) => void) {
    const { process } = running
    const mine = { process }
    underWay.add(mine)
    yield* Effect.forkDetach(
      doing.pipe(
        Effect.provideService(BegunWith, process),
        Effect.exit,
        Effect.flatMap((exit) =>
          Effect.sync(() => {
            underWay.delete(mine)
            if (!process.dead) ended(exit)
          })
        )
      )
    )
    yield* rest
  })

  /** Until all that can go on without time passing has gone on. */
  const rest = Effect.gen(function* () {
    const givesUpAtMs = performance.now() + PATIENCE_MS
    let quiet = 0
    while (quiet < TURNS_OF_QUIET) {
      yield* turn
      quiet = board.asking === 0 ? quiet + 1 : 0
      // A question may wait for a lock that an open unit of work holds, which itself waits for time to pass.
      if (isAsynchronous && board.isLate && board.unitsOpen > 0 && performance.now() > givesUpAtMs) return
    }
  })

  const pass = Effect.fnUntraced(function* (ms: number) {
    let left = ms
    while (left !== 0) {
      const now = underWay.size === 0 ? left : Math.min(left, isAsynchronous ? PASSED_AT_ONCE_MS : left)
      yield* TestClock.adjust(now)
      yield* rest
      left -= now
    }
  })

  const revive = Effect.gen(function* () {
    if (!running.process.dead) return false
    for (const one of underWay) if (one.process.dead) underWay.delete(one)
    // What it had going must not keep the next one waiting.
    yield* Effect.forkDetach(Scope.close(running.scope, Exit.void))
    running = yield* start()
    lives++
    return true
  })

  /**
   * The timers of a dead process still run here: its deadline would answer a request, and its sender would go on with the
   * next process, unseen by `rest`, while the books are being checked.
   */
  const send = Effect.fnUntraced(function* (call: Call) {
    const { process, services } = running
    if (((yield* BegunWith) ?? process).dead) return yield* never
    const answer = yield* exchange(Context.get(services, Dispatcher), call)
    return process.dead ? yield* never : answer
  })

  const world: World = {
    facts,
    terms,
    processor,
    providers,
    board,
    violations: [],
    stores,
    service: (tag) => Context.get(running.services, tag as never),
    port: (tag) => Context.get(running.ports, tag as never),
    send,
    begin,
    underWay: () => underWay.size,
    lives: () => lives,
    kill: Effect.sync(() => {
      running.process.dead = true
    }),
    revive,
    pass,
    setCalendarBy: (ms) => Effect.sync(() => calendar.setBy(ms))
  }
  return world
})

/** The process that ran when an actor began what it does. */
const BegunWith = Context.Reference<Process | undefined>("agent-tool-billing/test/simulation/BegunWith", {
  defaultValue: () => undefined
})

const TURNS_OF_QUIET = 2
const PATIENCE_MS = 50
/** So that what sleeps after a database has answered sleeps from then on. */
const PASSED_AT_ONCE_MS = 250

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

export const nowMs = Clock.currentTimeMillis
