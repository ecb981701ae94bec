/**
 * `npm run test:ci`: runs all tests. If a few files failed that may be repeated, runs each of them once more, alone, and
 * names those that then passed as flaky. Ends with the counts of both; the exit code is 1 if any test failed.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { RESULT_FILE } from "../ClosingLine.ts"
import { filesToRepeat, withRepeats } from "./Repeats.ts"
import { closingLine, failuresIn, type RunResult } from "./RunResult.ts"

const NO_RESULT: RunResult = { files: [], strayErrors: 1 }

/** In the project of the working directory. */
const run = (paths: ReadonlyArray<string>): RunResult => {
  const folder = mkdtempSync(join(tmpdir(), "agent-tool-billing-run-"))
  const file = join(folder, "result.json")
  try {
    const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...paths], {
      stdio: "inherit",
      env: { ...process.env, [RESULT_FILE]: file }
    })
    const result = readResult(file)
    // Vitest knows of failures that its reporters do not, such as a worker that does not end.
    return status !== 0 && failuresIn(result) === 0 ? { ...result, strayErrors: 1 } : result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const readResult = (file: string): RunResult => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as RunResult
  } catch {
    return NO_RESULT
  }
}

const whole = run([])
const alone = new Map<string, RunResult>()
for (const path of filesToRepeat(whole)) {
  console.log(`\n${path} failed. It is run once more, alone.`)
  alone.set(path, run([path]))
}
const { flaky, result } = withRepeats(whole, alone)
for (const path of flaky) console.log(`flaky: ${path} failed in the whole run and passed alone`)
console.log(`\n${closingLine(result)}`)
process.exitCode = failuresIn(result) === 0 ? 0 : 1
