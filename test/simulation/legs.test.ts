/**
 * The simulation with a ring that calls tools which ask for input, and abandons, replays, races and steals legs.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Random, randomFrom } from "../../testing/Random.ts"
import { answering, joiningToAnswer } from "./adversaries/Answers.ts"
import { planOf } from "./world/Plan.ts"
import { simulate } from "./Simulation.ts"
import { memory } from "./world/Stages.ts"
import type { Fault, Step } from "./world/Step.ts"

const STEPS = 120
const ANSWERS = 60
const RING = 7
const KINDS: ReadonlyArray<Fault["kind"]> = [
  "error_before",
  "error_after",
  "late_before",
  "late_after",
  "crash_before",
  "crash_after"
]

const soon = (act: Step["act"]): Step => ({ act, thenMs: 50 })

const joining: ReadonlyArray<Step> = [
  soon({ _tag: "Consumer" }),
  soon({ _tag: "Provider", tools: [{ price: 5_000, freeCalls: 0, policy: "success" }] }),
  ...joiningToAnswer(RING)
]

const faulty = (random: Random): Step => ({
  ...answering(random, RING),
  ...(random.percent(40) ? { fault: { kind: random.pick(KINDS), at: random.below(16), ms: random.below(5_000) } } : {})
})

/** The plan of the seed, with the ring's calls between its steps. */
const planWith = (seed: number): ReadonlyArray<Step> => {
  const random = randomFrom(seed)
  const plan = [...planOf(seed, STEPS)]
  for (let n = 0; n < ANSWERS; n++) plan.splice(random.below(plan.length), 0, faulty(random))
  return [...joining, ...plan]
}

for (const seed of [11, 12, 13]) {
  it.live(
    `no leg counts twice and nothing is free, in seed ${seed}`,
    () =>
      Effect.gen(function* () {
        const { trace, violation } = yield* simulate({ seed, plan: planWith(seed), stage: memory })
        assert.isUndefined(violation, violation?.message)
        const text = JSON.stringify(trace)
        for (const seen of ["Settled", "abandoned"]) assert.include(text, seen)
      }),
    180_000
  )
}
