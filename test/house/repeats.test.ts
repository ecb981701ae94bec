import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { globSync } from "node:fs"
import { projectRoot, repeatingTestRun } from "../support/project/PlantedProject.ts"
import { filesToRepeat, mayBeRepeated, NEVER_REPEATED, REPEATS_MAX, wordsOf } from "../support/suite/Repeats.ts"

const TIMEOUT_MS = 180_000

const testFiles = globSync("test/**/*.test.ts", { cwd: projectRoot })

describe("which files may be repeated", () => {
  it("excludes ledger, race, crash and simulation files", () => {
    for (const path of [
      "test/adapters/ledger/ledgerAlone.test.ts",
      "test/adapters/ledger/ledgerAloneRaces.test.ts",
      "test/adapters/metering/metering.test.ts",
      "test/adapters/shared/unitOfWork.test.ts",
      "test/adapters/embedded/embeddedPostgresCrash.test.ts",
      "test/domain/metering/ledger.test.ts",
      "test/payments/book.test.ts",
      "test/payments/killed.test.ts",
      "test/crash/outages.test.ts",
      "test/nodes/exact.test.ts",
      "test/simulation/adversaries/robberies.test.ts"
    ]) {
      assert.include(testFiles, path)
      assert.isFalse(mayBeRepeated(path), path)
    }
  })

  it("includes every other file", () => {
    for (const path of [
      "test/http/accounts/keys.test.ts",
      "test/browser/pages/status.test.ts",
      "test/telemetry/traces.test.ts"
    ]) {
      assert.isTrue(mayBeRepeated(path), path)
    }
  })

  it("has no entry that matches no file, as after a file was renamed", () => {
    const { files, folders, words } = NEVER_REPEATED
    for (const folder of folders)
      assert.isTrue(
        testFiles.some((path) => path.startsWith(folder)),
        folder
      )
    for (const word of words)
      assert.isTrue(
        testFiles.some((path) => wordsOf(path).includes(word)),
        word
      )
    for (const file of files) assert.include(testFiles, file)
  })
})

describe("the files to repeat", () => {
  const failedFile = (path: string) => ({ path, passed: 3, failed: 1, skipped: [], durationMs: 1 })
  const result = (paths: ReadonlyArray<string>, strayErrors = 0) => ({
    files: paths.map(failedFile),
    strayErrors,
    durationMs: 1
  })
  const several = Array.from({ length: REPEATS_MAX }, (_, n) => `test/http/${n}.test.ts`)

  it("are the failed ones, as long as they are few", () => {
    assert.deepStrictEqual(filesToRepeat(result(several)), several)
    assert.deepStrictEqual(filesToRepeat(result([...several, "test/http/one-more.test.ts"])), [])
  })

  it("are none where the run has failed in any case", () => {
    assert.deepStrictEqual(
      filesToRepeat(result(["test/http/accounts/keys.test.ts", "test/adapters/ledger/ledger.test.ts"])),
      []
    )
    assert.deepStrictEqual(filesToRepeat(result(["test/http/accounts/keys.test.ts"], 1)), [])
  })
})

/** A test file that records each of its runs in the planted project's folder. */
const file = (body: string): string =>
  [
    `import { appendFileSync, readFileSync } from "node:fs"`,
    `import { basename } from "node:path"`,
    `import { it } from "vitest"`,
    `const notes = basename(import.meta.filename) + ".runs"`,
    `appendFileSync(notes, "x")`,
    `const runs = readFileSync(notes, "utf8").length`,
    `const no = () => { throw new Error("no") }`,
    `it("is well", () => {})`,
    body
  ].join("\n")

const FAILS_ONCE = file(`it("is well the second time", () => { if (runs === 1) no() })`)
const FAILS_TWICE = file(`it("is well the third time", () => { if (runs < 3) no() })`)
const WELL = file("")

const lastLine = (output: string): string | undefined => output.trimEnd().split("\n").at(-1)
const closingLines = (output: string) => output.match(/^\d+ passed, \d+ failed.*$/gmu)

describe("npm run test:ci", () => {
  it.live(
    "repeats a failed file once, alone, names it as flaky, and counts its second result",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* repeatingTestRun({ "a.test.ts": WELL, "b.test.ts": FAILS_ONCE })
        assert.strictEqual(lastLine(output), "3 passed, 0 failed")
        assert.lengthOf(closingLines(output)!, 1)
        assert.include(output, "\nflaky: b.test.ts failed in the whole run and passed alone\n")
        assert.strictEqual(code, 0)
      }),
    TIMEOUT_MS
  )

  it.live(
    "fails where a file fails again, and does not run it a third time",
    () =>
      Effect.gen(function* () {
        const { code, output } = yield* repeatingTestRun({ "a.test.ts": FAILS_ONCE, "b.test.ts": FAILS_TWICE })
        assert.strictEqual(lastLine(output), "3 passed, 1 failed")
        assert.include(output, "flaky: a.test.ts")
        assert.notInclude(output, "flaky: b.test.ts")
        assert.strictEqual(code, 1)
      }),
    TIMEOUT_MS
  )

  it.live(
    "repeats nothing where a file failed that is never repeated, or an error belongs to no test",
    () =>
      Effect.gen(function* () {
        const ledger = yield* repeatingTestRun({ "a.test.ts": FAILS_ONCE, "ledgerRows.test.ts": FAILS_ONCE })
        assert.strictEqual(lastLine(ledger.output), "2 passed, 2 failed")
        assert.notInclude(ledger.output, "once more")
        const stray = file(
          `it("leaves an error behind", () => new Promise((end) => { setTimeout(no); setTimeout(end, 50) }))`
        )
        const { code, output } = yield* repeatingTestRun({ "a.test.ts": FAILS_ONCE, "b.test.ts": stray })
        assert.strictEqual(lastLine(output), "3 passed, 2 failed")
        assert.deepStrictEqual([ledger.code, code], [1, 1])
      }),
    TIMEOUT_MS
  )

  it.live(
    "passes a run without failures, and fails one without tests",
    () =>
      Effect.gen(function* () {
        const well = yield* repeatingTestRun({ "a.test.ts": WELL })
        assert.deepStrictEqual([well.code, lastLine(well.output)], [0, "1 passed, 0 failed"])
        const nothing = yield* repeatingTestRun({})
        assert.deepStrictEqual([nothing.code, lastLine(nothing.output)], [1, "0 passed, 1 failed"])
      }),
    TIMEOUT_MS
  )
})
