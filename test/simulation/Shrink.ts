/**
 * Finds the fewest steps of a failing plan that still violate the same rule, by removing ever smaller pieces. Steps are
 * independent, so any part of a plan is a plan.
 */
import { Effect } from "effect"
import { type Outcome, type Run, simulate } from "./Simulation.ts"

export interface Shrunk {
  /** Places in the first plan. */
  readonly kept: ReadonlyArray<number>
  readonly outcome: Outcome
}

const RUNS_MAX = 300

export const keeping = (run: Run, kept: ReadonlyArray<number>): Run => ({
  ...run,
  plan: kept.map((place) => run.plan[place]!)
})

export const shrink = Effect.fnUntraced(function* (run: Run, failed: Outcome, runsMax = RUNS_MAX) {
  let best: Shrunk = { kept: [...run.plan.keys()], outcome: failed }
  const budget = { runs: runsMax }

  const tryKeeping = Effect.fnUntraced(function* (kept: ReadonlyArray<number>) {
    budget.runs--
    const outcome = yield* simulate(keeping(run, kept))
    if (outcome.violation?.rule !== failed.violation?.rule) return false
    // What comes after the step that broke the rule is of no use.
    best = { kept: kept.slice(0, outcome.steps), outcome }
    return true
  })

  yield* tryKeeping(best.kept.slice(0, failed.steps))
  for (let size = Math.ceil(best.kept.length / 2); budget.runs > 0; size = Math.ceil(size / 2)) {
    let dropped = false
    for (let end = best.kept.length; end > 0 && budget.runs > 0; end -= size) {
      const kept = best.kept.filter((_, at) => at < end - size || at >= end)
      if (kept.length < best.kept.length && (yield* tryKeeping(kept))) dropped = true
    }
    if (size === 1 && !dropped) break
  }
  return best
})
