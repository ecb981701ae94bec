import { assert, it } from "@effect/vitest"
import { Effect, Random, Schema } from "effect"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { PROPERTY_SEED } from "../support/propertySeed.ts"

const drawn: Array<ReadonlyArray<string>> = []

for (const time of ["once", "and again"]) {
  const texts: Array<string> = []
  drawn.push(texts)
  it.prop(`a property draws values, ${time}`, { text: Schema.String }, ({ text }) => void texts.push(text))
}

it("a property draws the same values every time", () => {
  assert.isAbove(drawn[0]!.length, 50)
  assert.deepStrictEqual(drawn[0], drawn[1])
})

it.effect("a property without a seed takes the one of the run", () =>
  Effect.map(Random.nextInt, (seed) => assert.strictEqual(seed, PROPERTY_SEED))
)

it("no test draws random numbers of its own", () => {
  const drawing = globSync("test/**/*.test.ts", { cwd: projectRoot }).filter((path) =>
    /\b(?:Math\.random|randomInt|getRandomValues)\b/u.test(readFileSync(join(projectRoot, path), "utf8"))
  )
  assert.deepStrictEqual(drawing, ["test/house/codeRules.test.ts", "test/house/propertySeed.test.ts"])
})
