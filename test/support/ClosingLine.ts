/**
 * Ends a test run with one line of counts, after the name and reason of everything that did not run. If a file for
 * the result is named, the counts are written there, file by file, instead of the line.
 */
import { writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule, TestRunEndReason } from "vitest/node"
import { closingLine, failuresIn, type FileResult, type RunResult } from "./suite/RunResult.ts"

/** The environment variable that names the file. */
export const RESULT_FILE = "TEST_RESULT_FILE"

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>, reason: TestRunEndReason): void {
    const notRun = modules.flatMap((module) => [...module.children.allTests()].filter(didNotRun))
    if (notRun.length > 0) console.log(["", "Did not run:", ...notRun.map(nameOf)].join("\n"))
    const counted: RunResult = { files: modules.map(fileResult), strayErrors: errors.length }
    // Nothing ran because the database of the tests did not start.
    const isUnexplained = reason !== "passed" && failuresIn(counted) === 0
    const result = isUnexplained ? { ...counted, strayErrors: 1 } : counted
    const file = process.env[RESULT_FILE]
    if (file === undefined) console.log(`\n${closingLine(result)}`)
    else writeFileSync(file, JSON.stringify(result))
  }
}

const fileResult = (module: TestModule): FileResult => {
  const tests = [...module.children.allTests()]
  const passed = tests.filter((test) => test.result().state === "passed").length
  const skipped = tests.filter(didNotRun).length
  const failed = tests.length - passed - skipped
  // A file that cannot be loaded and a hook that fails belong to no test.
  return { path: module.relativeModuleId, passed, failed: module.state() === "failed" ? failed || 1 : failed, skipped }
}

const didNotRun = (test: TestCase): boolean => ["skipped", "pending"].includes(test.result().state)

const nameOf = (test: TestCase): string => {
  const result = test.result()
  const reason = result.state === "skipped" ? result.note : "the run ended before it"
  return `  ${test.module.relativeModuleId} > ${test.fullName}${reason === undefined ? "" : `: ${reason}`}`
}
