import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { testRun } from "../support/project/PlantedProject.ts"
import { closingText } from "../support/suite/RunResult.ts"

const TIMEOUT_MS = 180_000

const file = (...tests: ReadonlyArray<string>): string =>
  [`import { beforeAll, describe, it } from "vitest"`, `const no = () => { throw new Error("no") }`, ...tests].join(
    "\n"
  )

const closingLine = (output: string): string | undefined => output.trimEnd().split("\n").at(-1)

it.live(
  "a run without failures ends with its count",
  () =>
    Effect.gen(function* () {
      const output = yield* testRun({ "a.test.ts": file(`it("a", () => {})`, `it("b", () => {})`) })
      assert.strictEqual(closingLine(output), "2 passed, 0 failed")
      assert.notInclude(output, "Did not run")
      assert.match(output, /\nSlowest files:\n +\d+\.\d s {2}a\.test\.ts\n\nTotal:\n +\d+\.\d s {2}of 1 files, /u)
    }),
  TIMEOUT_MS
)

it.live(
  "failures are counted, and tests that did not run are named with their reason",
  () =>
    Effect.gen(function* () {
      const output = yield* testRun({
        "passes.test.ts": file(`it("a", () => {})`),
        "fails.test.ts": file(`it("a", no)`),
        "does-not-load.test.ts": file(`no()`),
        "fails-outside.test.ts": file(
          `it("a", async () => { setTimeout(no); await new Promise((resume) => setTimeout(resume, 50)) })`
        ),
        "fails-before.test.ts": file(`describe("rows", () => { beforeAll(no); it("a", () => {}) })`),
        "pages.test.ts": file(`describe("pages", () => { it("look right", ({ skip }) => skip("no Chromium here")) })`)
      })
      assert.strictEqual(closingLine(output), "2 passed, 4 failed, 2 skipped")
      const named = output.slice(output.indexOf("Did not run:")).split("\n")
      assert.include(named, "  pages.test.ts > pages > look right: no Chromium here")
      assert.include(named, "  fails-before.test.ts > rows > a")
    }),
  TIMEOUT_MS
)

it("names the ten slowest files, what is not installed and what did not run, before the counts", () => {
  const files = Array.from({ length: 12 }, (_, n) => ({
    path: `${n}.test.ts`,
    passed: 1,
    failed: 0,
    skipped: n === 3 ? ["3.test.ts > draws: no Chromium here"] : [],
    durationMs: n * 1_000
  }))
  const text = closingText({ files, strayErrors: 0, durationMs: 40_000 }, ["chromium: it is not found"])
  const lines = text.split("\n")
  assert.deepStrictEqual(
    lines.filter((line) => line.endsWith(".test.ts")),
    Array.from({ length: 10 }, (_, n) => `  ${`${11 - n}.0 s`.padStart(8)}  ${11 - n}.test.ts`)
  )
  assert.deepStrictEqual(lines.slice(-10), [
    "Total:",
    "    40.0 s  of 12 files, which took 66 s one by one",
    "",
    "Not installed:",
    "  chromium: it is not found",
    "",
    "Did not run:",
    "  3.test.ts > draws: no Chromium here",
    "",
    "12 passed, 0 failed, 1 skipped"
  ])
})

it.live(
  "a run without tests fails",
  () => Effect.map(testRun({}), (output) => assert.strictEqual(closingLine(output), "0 passed, 1 failed")),
  TIMEOUT_MS
)
