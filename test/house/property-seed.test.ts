import { assert, it } from "@effect/vitest"
import { Random, Schema } from "effect"
import { Effect } from "effect"
import { PROPERTY_SEED } from "../support/propertySeed.ts"

const drawn: Array<ReadonlyArray<string>> = []

for (const time of ["one time", "another time"]) {
  const texts: Array<string> = []
  drawn.push(texts)
  it.prop(`a property draws values ${time}`, { text: Schema.String }, ({ text }) => void texts.push(text))
}

it("and they are the same values", () => {
  assert.isAbove(drawn[0]!.length, 50)
  assert.deepStrictEqual(drawn[0], drawn[1])
})

it.effect("they follow from the seed of the run", () =>
  Effect.map(Random.nextInt, (seed) => assert.strictEqual(seed, PROPERTY_SEED))
)
