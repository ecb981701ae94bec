/**
 * `npm run simulate -- --seed N --steps M [--on postgres]`: plays so many steps, as one run of each seed from N on. Of a run
 * that fails it prints the seed, the fewest steps that still fail, and how to play exactly those again. Exit code 1 then.
 */
import { Console, Effect } from "effect"
import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { planOf } from "./world/Plan.ts"
import { keeping, shrink } from "./Shrink.ts"
import { type Outcome, type Run, simulate } from "./Simulation.ts"
import { memory, temporaryPostgresStage } from "./world/Stages.ts"

/** What is checked of the whole grows with the history: many runs see more than a long one. */
const STEPS_AT_ONCE_MAX = 1_000

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    steps: { type: "string", default: "1000" },
    on: { type: "string", default: "memory" },
    only: { type: "string" },
    without: { type: "string" },
    trace: { type: "boolean", default: false }
  }
})

const seedFirst = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
const stepsInAll = Number(values.steps)
const only = values.only?.split(",").map(Number)

/** Rules, as they are named in failures. */
const without = values.without?.split(",").map((rule) => rule.trim())

const again = ({ plan, seed, stage }: Run, kept: ReadonlyArray<number>): string =>
  `npm run simulate -- --seed ${seed} --steps ${plan.length} --on ${stage.name} --only ${kept.join(",")}`

const tell = Effect.fnUntraced(function* (run: Run, outcome: Outcome) {
  const { violation, ...rest } = outcome
  if (values.trace || only !== undefined) yield* Console.log(outcome.trace.join("\n"))
  const { calls, digest, faults, lives, steps } = rest
  const struck = [...faults.values()].reduce((sum, times) => sum + times, 0)
  const did = `seed ${run.seed}: ${steps} steps, ${calls} calls, ${struck} faults in ${faults.size} places, ${lives} lives, ${digest.slice(0, 12)}`
  yield* Console.log(violation === undefined ? did : `${did}\nFAILED ${violation.message}`)
  if (violation === undefined || only !== undefined) return
  yield* Console.log("Looking for the fewest steps …")
  const { kept, outcome: last } = yield* shrink(run, outcome)
  for (const place of kept) yield* Console.log(`  ${place} ${JSON.stringify(run.plan[place])}`)
  yield* Console.log(`${last.violation!.message}\nAgain: ${again(run, kept)}`)
})

const play = Effect.gen(function* () {
  const stage = values.on === "postgres" ? yield* temporaryPostgresStage : memory
  for (let left = stepsInAll, seed = seedFirst; left > 0; left -= STEPS_AT_ONCE_MAX, seed++) {
    const whole: Run = { seed, plan: planOf(seed, Math.min(left, STEPS_AT_ONCE_MAX)), stage, without }
    const run = only === undefined ? whole : keeping(whole, only)
    const outcome = yield* simulate(run)
    yield* tell(run, outcome)
    if (outcome.violation !== undefined) return 1
  }
  return 0
})

process.exitCode = await Effect.runPromise(Effect.scoped(play))
