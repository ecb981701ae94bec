/**
 * A `Context.Reference` has a value where no layer provides one. A composition that forgets to provide it compiles, and behaves
 * differently without a message. So only what has one safe default is a reference, and there are few of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Sources, projectSources } from "../support/house/ImportGraph.ts"

const REFERENCES_MAX = 20

const referencesIn = (sources: Sources): ReadonlyArray<string> =>
  [...sources].flatMap(([path, text]) => [...text.matchAll(/\bContext\.Reference\s*[<(]/gu)].map(() => path))

describe("references with defaults", () => {
  it(`are at most ${REFERENCES_MAX}: what a composition must decide is a Context.Service or a parameter`, () => {
    const found = referencesIn(projectSources(["adapters", "domain", "src"]))
    assert.isAtMost(found.length, REFERENCES_MAX, found.join("\n"))
  })

  it.each([
    `export const Limit = Context.Reference<number>("a/Limit", { defaultValue: () => 1 })\n`,
    `export const Limit = Context.Reference("a/Limit", { defaultValue: () => 1 })\n`,
    `export class Limit extends Context.Reference<number>("a/Limit", { defaultValue: () => 1 }) {}\n`
  ])("are counted: %s", (text) => {
    const planted = new Map([
      ["domain/a/A.ts", `${text}${text}`],
      ["domain/a/B.ts", `export class Limit extends Context.Service<Limit, number>()("a/Limit") {}\n`]
    ])
    assert.deepStrictEqual(referencesIn(planted), ["domain/a/A.ts", "domain/a/A.ts"])
  })
})
