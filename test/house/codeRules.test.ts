import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { compile, type Files, lint } from "../support/project/PlantedProject.ts"

const clean: Files = {
  "domain/shared/Clean.ts": `import { Effect } from "effect"

/** The answer. */
export const answer = Effect.succeed(42)
`
}

const back: Files = { "domain/shared/Back.ts": `import { a } from "./Cycle.ts"\n\nexport const b = a\n` }

describe("oxlint rejects", () => {
  it.live.each<readonly [rule: string, file: string, text: string]>([
    ["oxc(no-barrel-file)", "domain/shared/Barrel.ts", `export * from "./Clean.ts"\n`],
    ["eslint(max-lines)", "domain/shared/Long.ts", "export {}\n".repeat(601)],
    ["typescript(no-explicit-any)", "adapters/sql/Any.ts", "export const a = (value: any) => value\n"],
    ["typescript(no-explicit-any)", "adapters/sql/AsAny.ts", "export const a = 1 as any\n"],
    ["typescript(ban-ts-comment)", "src/Ignored.ts", "// @ts-ignore\nexport const a: string = 1\n"],
    ["eslint(no-unused-vars)", "src/Unused.ts", `import { Effect } from "effect"\n\nexport const a = 1\n`],
    ["eslint(no-console)", "adapters/http/Console.ts", `console.log("a")\n`],
    ["import(no-cycle)", "domain/shared/Cycle.ts", `import { b } from "./Back.ts"\n\nexport const a = b\n`],
    ["vitest(no-focused-tests)", "test/a.test.ts", `import { it } from "vitest"\n\nit.only("a", () => {})\n`],
    ["vitest(no-disabled-tests)", "test/a.test.ts", `import { it } from "vitest"\n\nit.skip("a", () => {})\n`]
  ])("%s in %s", ([rule, file, text]) =>
    Effect.gen(function* () {
      const complaints = yield* lint({ ...clean, ...back, [file]: text })
      assert.deepInclude(complaints, { file, rule })
      assert.isFalse(complaints.some((complaint) => complaint.file in clean))
    })
  )

  it.live("nothing in a clean file", () => Effect.map(lint(clean), (found) => assert.deepStrictEqual(found, [])))
})

describe("the compiler rejects", () => {
  const faults = {
    "effect(floatingEffect)": `Effect.gen(function* () { Effect.succeed(1) })`,
    "effect(missingReturnYieldStar)": `Effect.gen(function* () { yield* Effect.fail("no") })`,
    "effect(globalDate)": `Date.now()`,
    "effect(globalDateInEffect)": `Effect.gen(function* () { return yield* Effect.succeed(Date.now()) })`,
    "effect(globalRandom)": `Math.random()`,
    "effect(globalConsoleInEffect)": `Effect.gen(function* () { console.log(1); return yield* Effect.void })`,
    "effect(processEnv)": `process.env["A"]`,
    "effect(processEnvInEffect)": `Effect.gen(function* () { return yield* Effect.succeed(process.env["A"]) })`,
    "effect(globalFetch)": `fetch("http://127.0.0.1")`,
    "effect(cryptoRandomUUID)": `crypto.randomUUID()`,
    "effect(asyncFunction)": `async () => 1`,
    "effect(newPromise)": `new Promise(() => {})`,
    "effect(unnecessaryEffectGen)": `Effect.gen(function* () { return yield* Effect.succeed(1) })`
  }
  const inWorld = [
    "effect(globalDate)",
    "effect(globalDateInEffect)",
    "effect(processEnv)",
    "effect(processEnvInEffect)"
  ]
  const fileOf = (folder: string, rule: string) => `${folder}/${rule.replace(/\W/gu, "_")}.ts`
  const plant = (folder: string): Files =>
    Object.fromEntries(
      Object.entries(faults).map(([rule, text]) => [
        fileOf(folder, rule),
        `${text.includes("Effect.") ? `import { Effect } from "effect"\n` : ""}export const a = ${text}\n`
      ])
    )

  it.live("code that is not idiomatic Effect, and allows in adapters and tests what is necessary there", () =>
    Effect.gen(function* () {
      const complaints = yield* compile({
        ...clean,
        ...plant("domain/a"),
        ...plant("src"),
        ...plant("adapters/a"),
        ...plant("test/a"),
        "domain/a/Leak.ts": `import { Context, Effect } from "effect"

export class Store extends Context.Service<Store, { readonly get: Effect.Effect<number> }>()("a/Store") {}

export class Ledger extends Context.Service<Ledger, {
  readonly load: (cents: number) => Effect.Effect<number, never, Store>
  readonly spend: (cents: number) => Effect.Effect<number, never, Store>
}>()("a/Ledger") {}
`
      })
      const missed = (folder: string) =>
        Object.keys(faults).filter(
          (rule) => !complaints.some((c) => c.file === fileOf(folder, rule) && c.rule === rule)
        )
      assert.deepStrictEqual(missed("domain/a"), [])
      assert.deepStrictEqual(missed("src"), [])
      assert.deepStrictEqual(missed("adapters/a"), ["effect(asyncFunction)", "effect(newPromise)"])
      assert.includeMembers(missed("test/a"), inWorld)
      assert.notIncludeMembers(missed("test/a"), ["effect(floatingEffect)", "effect(globalRandom)"])
      assert.deepInclude(complaints, { file: "domain/a/Leak.ts", rule: "effect(leakingRequirements)" })
      assert.isFalse(complaints.some(({ file }) => file in clean))
    })
  )
})
