/**
 * The simulation with a ring that calls tools which ask for input, and abandons, replays, races and steals legs.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Random, randomFrom } from "../../testing/Random.ts"
import type { Trick } from "./adversaries/Move.ts"
import { planOf } from "./Plan.ts"
import { simulate } from "./Simulation.ts"
import { memory } from "./Stages.ts"
import type { Fault, Step } from "./Step.ts"

const STEPS = 120
const ANSWERS = 60
const RING = 7
const MINUTE = 60_000

const TRICKS: ReadonlyArray<Trick> = ["abandons", "replays", "races", "changes", "steals", "none"]
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
  soon({ _tag: "RingJoins", ring: RING, consumers: 2, tools: [] }),
  soon({ _tag: "RingLoads", ring: RING, who: 0, cents: 40_000 }),
  soon({ _tag: "RingLoads", ring: RING, who: 1, cents: 40_000 })
]

const answering = (random: Random): Step => ({
  act: {
    _tag: "RingAnswers",
    ring: RING,
    who: random.below(2),
    tool: random.below(1_000),
    asks: random.below(6),
    keyed: random.percent(40),
    trick: random.pick(TRICKS)
  },
  ...(random.percent(40) ? { fault: { kind: random.pick(KINDS), at: random.below(16), ms: random.below(5_000) } } : {}),
  thenMs: random.pick([50, 1_000, 30_000, 5 * MINUTE, 11 * MINUTE])
})

/** The plan of the seed, with the ring's calls between its steps. */
const planWith = (seed: number): ReadonlyArray<Step> => {
  const random = randomFrom(seed)
  const plan = [...planOf(seed, STEPS)]
  for (let n = 0; n < ANSWERS; n++) plan.splice(random.below(plan.length), 0, answering(random))
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
