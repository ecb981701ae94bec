/**
 * A crash between prepare and commit, as of a Citus coordinator: the service does not learn what becomes of a unit of work, which
 * is decided later. A call is a transaction of one server, so only units of work can be in doubt.
 */
import { assert, it } from "@effect/vitest"
import { Clock, Context, Effect } from "effect"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { type Posting, TransferId } from "../../domain/ledger/Transfer.ts"
import { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import type { Plant } from "./Plants.ts"
import { simulate } from "./Simulation.ts"
import { planOf } from "./world/Plan.ts"
import { memory } from "./world/Stages.ts"
import type { Step } from "./world/Step.ts"
import { UNIT } from "./world/Switchboard.ts"

const SEEDS = [41, 42, 43]
const STEPS = 200
const DOUBTS_MIN = 30

/** Every second unit of work of the plan, in turn kept and undone, instead of the plan's own faults. */
const doubtful = (plan: ReadonlyArray<Step>): ReadonlyArray<Step> =>
  plan.map((step, n) => ({
    ...step,
    fault: { kind: n % 2 === 0 ? "doubt_kept" : "doubt_undone", at: n % 3 === 0 ? 1 : 0, ms: (n * 977) % 10_000 }
  }))

const lived = (seed: number, plant?: Plant) =>
  simulate({ seed, plan: doubtful(planOf(seed, STEPS)), stage: memory, plant })

for (const seed of SEEDS) {
  it.live(
    `a crash between prepare and commit violates no rule in ${STEPS} steps of seed ${seed}`,
    () =>
      Effect.gen(function* () {
        const { faults, violation } = yield* lived(seed)
        assert.isUndefined(violation, violation?.message)
        assert.isAtLeast(faults.get(UNIT) ?? 0, DOUBTS_MIN)
      }),
    240_000
  )
}

/** The recovery keeps what a unit of work wrote, except its transfers. Only a unit that is in doubt takes time here. */
const oneSideKept: Plant = (stores) => {
  const ledger = Context.get(stores, LedgerStore)
  const { atomically } = Context.get(stores, UnitOfWork)
  const written: Array<Posting> = []
  const store = LedgerStore.of({
    ...ledger,
    post: (posting) => Effect.tap(ledger.post(posting), () => Effect.sync(() => written.push(posting)))
  })
  const units = UnitOfWork.of({
    atomically: Effect.fnUntraced(function* (effect) {
      const [from, beganAt] = [written.length, yield* Clock.currentTimeMillis]
      const value = yield* atomically(effect)
      if ((yield* Clock.currentTimeMillis) > beganAt) {
        yield* Effect.forEach(written.slice(from), (posting) => Effect.ignore(ledger.post(undone(posting))))
      }
      return value
    })
  })
  return Context.add(Context.add(stores, LedgerStore, store), UnitOfWork, units)
}

const undone = (posting: Posting): Posting => ({
  ...posting,
  transferId: TransferId.make(`f${posting.transferId.slice(1)}`),
  reference: `undone:${posting.reference}`,
  legs: posting.legs.map((leg) => ({ ...leg, debit: leg.credit, credit: leg.debit }))
})

it.live(
  "finds a recovery that keeps one side of a unit of work",
  () =>
    Effect.gen(function* () {
      for (const seed of SEEDS) {
        const { violation } = yield* lived(seed, oneSideKept)
        if (violation !== undefined) return yield* Effect.log(violation.rule)
      }
      return assert.fail("Not found")
    }),
  240_000
)
