/**
 * A ring that calls tools which ask for input, and abandons, replays, races, changes and steals legs, or leaves many waiting.
 */
import type { Random } from "../../../testing/Random.ts"
import type { Step } from "../world/Step.ts"
import type { Trick } from "./Move.ts"

const MINUTE = 60_000
const ANY = 1_000_000
const ASKS_MAX = 5

const TRICKS: ReadonlyArray<Trick> = ["abandons", "replays", "races", "changes", "steals", "none"]

const soon = (act: Step["act"]): Step => ({ act, thenMs: 50 })

/** Two consumers with funds. */
export const joiningToAnswer = (ring: number): ReadonlyArray<Step> => [
  soon({ _tag: "RingJoins", ring, consumers: 2, tools: [] }),
  soon({ _tag: "RingLoads", ring, who: 0, cents: 40_000 }),
  soon({ _tag: "RingLoads", ring, who: 1, cents: 40_000 })
]

const FLOOD_MIN = 14

export const flooding = (random: Random, ring: number): Step => ({
  act: {
    _tag: "RingFloods",
    ring,
    who: random.below(2),
    tool: random.below(ANY),
    times: FLOOD_MIN + random.below(8)
  },
  thenMs: random.pick([50, 30_000, 11 * MINUTE])
})

export const answering = (random: Random, ring: number): Step => ({
  act: {
    _tag: "RingAnswers",
    ring,
    who: random.below(2),
    tool: random.below(ANY),
    asks: random.below(ASKS_MAX + 1),
    keyed: random.percent(40),
    trick: random.pick(TRICKS)
  },
  thenMs: random.pick([50, 1_000, 30_000, 5 * MINUTE, 11 * MINUTE])
})
