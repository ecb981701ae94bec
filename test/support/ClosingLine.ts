/**
 * Ends a test run with its slowest files, the name and reason of everything that did not run, and one line of counts. If
 * a file for the result is named, the result is written there instead.
 */
import { writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule, TestRunEndReason } from "vitest/node"
import { closingText, failuresIn, type FileResult, type RunResult } from "./suite/RunResult.ts"

/** The environment variable that names the file. */
export const RESULT_FILE = "TEST_RESULT_FILE"

export default class ClosingLine implements Reporter {
  private startedMs = performance.now()

  onTestRunStart(): void {
    this.startedMs = performance.now()
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>, reason: TestRunEndReason): void {
    const durationMs = performance.now() - this.startedMs
    const counted: RunResult = { files: modules.map(fileResult), strayErrors: errors.length, durationMs }
    // Nothing ran because the database of the tests did not start.
    const isUnexplained = reason !== "passed" && failuresIn(counted) === 0
    const result = isUnexplained ? { ...counted, strayErrors: 1 } : counted
    const file = process.env[RESULT_FILE]
    if (file === undefined) console.log(closingText(result))
    else writeFileSync(file, JSON.stringify(result))
  }
}

const fileResult = (module: TestModule): FileResult => {
  const tests = [...module.children.allTests()]
  const passed = tests.filter((test) => test.result().state === "passed").length
  const skipped = tests.filter(didNotRun).map(nameOf)
  const failed = tests.length - passed - skipped.length
  const { collectDuration, duration, setupDuration } = module.diagnostic()
  return {
    path: module.relativeModuleId,
    passed,
    // A file that cannot be loaded and a hook that fails belong to no test.
    failed: module.state() === "failed" ? failed || 1 : failed,
    skipped,
    durationMs: setupDuration + collectDuration + duration
  }
}

const didNotRun = (test: TestCase): boolean => ["skipped", "pending"].includes(test.result().state)

const nameOf = (test: TestCase): string => {
  const result = test.result()
  const reason = result.state === "skipped" ? result.note : "the run ended before it"
  return `${test.module.relativeModuleId} > ${test.fullName}${reason === undefined ? "" : `: ${reason}`}`
}
