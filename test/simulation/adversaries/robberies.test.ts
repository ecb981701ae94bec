/**
 * Each fault that lets somebody rob the others is found within 2,000 steps, from what clients and the processor saw: without
 * the books that explain every balance from the service's own documents.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "../Plan.ts"
import { simulate } from "../Simulation.ts"
import { memory } from "../Stages.ts"
import { robberies, type Robbery } from "./Plants.ts"

const SEEDS = [34, 35]
const STEPS = 1_000
const BOOKS = ["balances are explained"]

const found = Effect.fnUntraced(function* ({ misread, name, plant, rules }: Robbery) {
  for (const seed of SEEDS) {
    const { violation } = yield* simulate({
      seed,
      plan: planOf(seed, STEPS),
      stage: memory,
      without: BOOKS,
      plant,
      misread
    })
    if (violation === undefined) continue
    assert.include(rules, violation.rule, violation.message)
    return
  }
  assert.fail(`${name} was not found in ${SEEDS.length * STEPS} steps`)
})

for (const robbery of robberies) it.live(`Finds ${robbery.name}`, () => found(robbery), 240_000)
