/**
 * Performs a plan in a world and checks everything after each step. The same plan gives the same run.
 */
import { type Context, Effect, Exit, Logger, type Scope } from "effect"
import { createHash } from "node:crypto"
import { doing, timeOf } from "./world/Acts.ts"
import { makeAgreementCheck } from "./books/Agreements.ts"
import { makeBalanceChecks } from "./books/Balances.ts"
import { makeBooks } from "./books/Books.ts"
import { makeClaimChecks } from "./world/ClaimsFirst.ts"
import { Calendar } from "./world/Calendar.ts"
import { makeLeftCheck } from "./world/CallsThatWereLeft.ts"
import { calm } from "./world/Calm.ts"
import { makeFeeHistoryCheck } from "./books/FeeHistories.ts"
import { makeFeeCheck } from "./books/Fees.ts"
import { makeFigureChecks } from "./books/Figures.ts"
import { makeFreezeChecks } from "./world/Freezing.ts"
import { makeMaturityCheck } from "./books/Maturity.ts"
import { makeNewAccountCheck } from "./world/NewAccounts.ts"
import type { Stores } from "./parts/Ports.ts"
import { makeReceiptChecks, type OfReceipt } from "./books/Receipts.ts"
import { makeRecoveryCheck } from "./books/Recoveries.ts"
import { makePaidFundsCheck } from "./books/PaidFunds.ts"
import { makeRingCheck } from "./world/RingGains.ts"
import { makeSolvencyCheck } from "./books/Solvency.ts"
import type { Step } from "./world/Step.ts"
import { type Terms, termsOf } from "./books/Terms.ts"
import { Violation, violationIn } from "./books/Violation.ts"
import { makeWholeCheck } from "./books/Whole.ts"
import { makeWorld, type World } from "./world/World.ts"
import type { StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"

export interface Stage {
  readonly name: string
  /** Fresh ones for every run. */
  readonly stores: Effect.Effect<Context.Context<Stores>, never, Scope.Scope>
  /** A database has its answers when it has them; Maps have them at once. */
  readonly isAsynchronous: boolean
}

export interface Run {
  readonly seed: number
  readonly plan: ReadonlyArray<Step>
  readonly stage: Stage
  /** Rules that are not held to: to see what is behind a fault that is known. */
  readonly without?: ReadonlyArray<string> | undefined
  /** A fault in the service itself, to see whether it is found. */
  readonly plant?: ((stores: Context.Context<Stores>) => Context.Context<Stores>) | undefined
  /** What the service goes by, where that is not what it is held to. */
  readonly misread?: ((terms: Terms) => Terms) | undefined
}

export interface Outcome {
  readonly violation: Violation | undefined
  /** Steps that were begun. */
  readonly steps: number
  /** Of all that happened, in order. */
  readonly digest: string
  readonly trace: ReadonlyArray<string>
  readonly calls: number
  /** By what they struck. */
  readonly faults: ReadonlyMap<string, number>
  readonly lives: number
}

/** The first so many steps are followed by a check of the whole; later on the pause grows with the history. */
const WHOLE_CHECKED_EVERY = 25

export const simulate = ({
  misread = (terms) => terms,
  plan,
  plant = (stores) => stores,
  seed,
  stage,
  without = []
}: Run): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    const stores = yield* stage.stores
    const world = yield* makeWorld({
      stores,
      seed,
      terms: termsOf(seed),
      serviceTerms: misread(termsOf(seed)),
      plant,
      isAsynchronous: stage.isAsynchronous
    })
    const trace: Array<string> = []
    let lives = 1
    const result = yield* Effect.result(
      Effect.gen(function* () {
        const checks = makeChecks(world, without)
        for (const [n, step] of plan.entries()) {
          if (yield* play(world, step, n, trace)) lives++
          yield* checks.always
          if (n % Math.max(WHOLE_CHECKED_EVERY, world.facts.receipts.size >> 3) === 0) yield* checks.whole
        }
        yield* calm(world, checks.always)
        yield* checks.always
        yield* checks.whole
        yield* checks.atTheEnd
      }).pipe(
        Effect.catchTag("StoreUnavailable", (error) => Effect.die(error)),
        Effect.catchDefect(asViolation)
      )
    )
    const digest = createHash("sha256").update(trace.join("\n")).digest("hex")
    return {
      violation: result._tag === "Failure" ? result.failure : undefined,
      steps: trace.length,
      digest,
      trace,
      calls: world.facts.receipts.size,
      faults: world.board.struck,
      lives
    }
  }).pipe(Effect.scoped, Effect.provide([Calendar.layer, Logger.layer([])]))

const asViolation = (defect: unknown) =>
  Effect.fail(
    defect instanceof Violation
      ? defect
      : new Violation({ rule: "no defect in the simulation", detail: String(defect) })
  )

const makeChecks = (world: World, without: ReadonlyArray<string>) => {
  const unless = <A>(check: Effect.Effect<A, Violation | StoreUnavailable>): Effect.Effect<A | void, Violation> =>
    check.pipe(
      Effect.catchTag("StoreUnavailable", (error) => Effect.die(error)),
      Effect.catchIf(
        ({ rule }) => without.includes(rule),
        () => Effect.void
      )
    )
  const freezes = makeFreezeChecks(world)
  const ofReceipts: ReadonlyArray<OfReceipt> = [
    makeAgreementCheck(world),
    makeFeeCheck(world),
    makeFeeHistoryCheck(world),
    makeLeftCheck(world),
    freezes.ofReceipt
  ]
  const books = makeBooks(world)
  const receipts = makeReceiptChecks(
    world,
    books,
    ofReceipts.map(
      (holds): OfReceipt =>
        (receipt, opened) =>
          unless(holds(receipt, opened))
    )
  )
  const claims = makeClaimChecks(world)
  const afterEach = [
    receipts,
    makeBalanceChecks(world, books),
    makeSolvencyCheck(world),
    claims.afterEach,
    makeRingCheck(world),
    makePaidFundsCheck(world),
    makeRecoveryCheck(world),
    freezes.afterEach,
    makeMaturityCheck(world),
    makeNewAccountCheck(world),
    makeFigureChecks(world)
  ]
  return {
    always: Effect.gen(function* () {
      const first = world.violations.find(({ rule }) => !without.includes(rule))
      if (first !== undefined) return yield* first
      for (const check of afterEach) yield* unless(check)
    }),
    whole: unless(makeWholeCheck(world)),
    atTheEnd: unless(claims.atTheEnd)
  }
}

/** Whether the process died of it. */
const play = Effect.fnUntraced(function* (world: World, { act, fault, thenMs }: Step, n: number, trace: Array<string>) {
  const at = trace.push(`${n} ${act._tag}`) - 1
  world.board.arm(fault)
  yield* world.begin(doing(world, act), (exit) => {
    if (Exit.isSuccess(exit)) trace[at] += ` ${exit.value}`
    else world.violations.push(violationIn(exit.cause))
  })
  yield* world.pass((yield* timeOf(act)) + thenMs)
  world.board.arm(undefined)
  const died = yield* world.revive
  if (died) trace[at] += " †"
  // Memory shows what a unit of work has done so far; a database does not. It is waited for.
  while (world.board.unitsOpen > 0) yield* world.pass(1_000)
  return died
})
