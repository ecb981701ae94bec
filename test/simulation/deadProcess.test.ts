/**
 * What a process that died leaves behind in the simulation.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { consumerBody, CONSUMERS } from "../support/market/Market.ts"
import { Calendar } from "./world/Calendar.ts"
import { memory } from "./world/Stages.ts"
import { termsOf } from "./books/Terms.ts"
import { makeWorld } from "./world/World.ts"

it.live("lets no actor go on when its process has died", () =>
  Effect.gen(function* () {
    const world = yield* makeWorld({
      stores: yield* memory.stores,
      seed: 1,
      terms: termsOf(1),
      serviceTerms: termsOf(1),
      plant: (stores) => stores,
      isAsynchronous: memory.isAsynchronous
    })
    const answers: Array<string> = []
    const asking = (what: string) =>
      Effect.map(world.send({ path: CONSUMERS, json: consumerBody() }), ({ status }) =>
        answers.push(`${what} ${status}`)
      )
    yield* world.begin(asking("living"), () => answers.push("ended"))
    yield* world.begin(Effect.andThen(world.kill, Effect.andThen(asking("dead"), asking("next"))), () =>
      answers.push("ended late")
    )
    assert.strictEqual(yield* world.revive, true)
    // Beyond the deadline of a request, whose timer runs on here.
    yield* world.pass(600_000)
    yield* world.begin(asking("revived"), () => answers.push("ended again"))
    assert.deepStrictEqual(answers, ["living 201", "ended", "revived 201", "ended again"])
  }).pipe(Effect.scoped, Effect.provide([Calendar.layer, Logger.layer([])]))
)
