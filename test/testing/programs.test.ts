/**
 * The programs of docs/testing.md, run as they are written.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { SourcePackage } from "../support/project/SourcePackage.ts"

const chapter = readFileSync(join(projectRoot, "docs/testing.md"), "utf8")

/** Each program starts with its name. */
const programs = [...chapter.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gmsu)].map(
  ([, name, program]) => [name!, program!] as const
)

const exported = [...readFileSync(join(projectRoot, "testing/index.ts"), "utf8").matchAll(/^export \{(.*?)\}/gmsu)]
  .flatMap(([, names]) => names!.split(","))
  .map((name) => name.trim())
  .filter((name) => name !== "" && !name.startsWith("type "))
  .map((name) => name.split(" as ").at(-1)!)

it("the chapter names everything that the kit exports", () => {
  assert.isAbove(exported.length, 15)
  for (const name of exported) assert.match(chapter, new RegExp(`\`${name}\\b`, "u"))
})

it.layer(SourcePackage.layer, { timeout: "300 seconds", excludeTestServices: true })("the programs", (it) => {
  it.effect(
    "are the tests that everyone needs, and compile",
    () =>
      Effect.gen(function* () {
        const { typeCheck, write } = yield* SourcePackage
        assert.deepStrictEqual(
          programs.map(([name]) => name),
          [
            "paid-call.test.ts",
            "last-dollar.test.ts",
            "time-out.test.ts",
            "declined-payment.test.ts",
            "dispute.test.ts",
            "ledger-contract.test.ts",
            "doubles.test.ts"
          ]
        )
        for (const [name, text] of programs) yield* write(name, text)
        assert.deepStrictEqual(yield* typeCheck, { code: 0, output: "" })
      }),
    300_000
  )

  for (const [name, text] of programs) {
    it.effect(
      `pass: ${name}`,
      () =>
        Effect.gen(function* () {
          const { node, write } = yield* SourcePackage
          yield* write(name, text)
          const { code, output } = yield* node("--test-reporter=tap", name)
          assert.strictEqual(code, 0, output)
          assert.match(output, /^# pass [1-9]\d*$/mu)
          assert.match(output, /^# fail 0$/mu)
        }),
      300_000
    )
  }
})
