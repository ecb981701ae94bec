/**
 * `npm run test:ci`: runs all tests. If a few files failed that may be repeated, runs each of them once more, alone,
 * and names those that then passed as flaky. Ends with the counts of both, after what is missing (`.ci/run` passes on what
 * it could not install); the exit code is 1 if any test failed.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { RESULT_FILE } from "../ClosingLine.ts"
import { filesToRepeat, withRepeats } from "./Repeats.ts"
import { closingText, failuresIn, type RunResult } from "./RunResult.ts"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const NO_RESULT: RunResult = { files: [], strayErrors: 1, durationMs: 0 }
const missing = (process.env["NOT_INSTALLED"] ?? "").split("\n").filter((line) => line !== "")

let isEnding = false

/** In the working directory's project. A signal to end this process is passed on. */
const run = async (paths: ReadonlyArray<string>): Promise<RunResult> => {
  const folder = mkdtempSync(join(tmpdir(), "agent-tool-billing-run-"))
  const file = join(folder, "result.json")
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...paths], {
    stdio: "inherit",
    env: { ...process.env, [RESULT_FILE]: file }
  })
  const passOn = (signal: NodeJS.Signals) => {
    isEnding = true
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, passOn)
  try {
    const [code] = (await once(child, "close")) as [code: number | null]
    const result = readResult(file)
    // Vitest knows of failures that its reporters do not, such as a worker that does not end.
    return code !== 0 && failuresIn(result) === 0 ? { ...result, strayErrors: 1 } : result
  } finally {
    for (const signal of SIGNALS) process.off(signal, passOn)
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

const whole = await run([])
const alone = new Map<string, RunResult>()
for (const path of filesToRepeat(whole)) {
  if (isEnding) break
  console.log(`\n${path} failed. It is run once more, alone.`)
  alone.set(path, await run([path]))
}
const { flaky, result } = withRepeats(whole, alone)
for (const path of flaky) console.log(`flaky: ${path} failed in the whole run and passed alone`)
console.log(closingText(result, missing))
process.exitCode = failuresIn(result) === 0 ? 0 : 1
