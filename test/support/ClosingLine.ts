/**
 * Ends a test run with one plain line of counts, and before it names everything that did not run, with its reason.
 */
import type { Reporter, TestCase, TestModule, TestRunEndReason } from "vitest/node"

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>, reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const passed = tests.filter((test) => test.result().state === "passed").length
    const notRun = tests.filter((test) => ["skipped", "pending"].includes(test.result().state))
    // A file that cannot be loaded, a hook that fails and an error nobody awaited belong to no test.
    const homeless = modules.filter(
      (module) => module.state() === "failed" && module.children.allTests("failed").next().done
    )
    const faults = tests.length - passed - notRun.length + homeless.length + errors.length
    // Nothing ran where the database of the tests did not start.
    const failed = Math.max(faults, reason === "passed" ? 0 : 1)

    if (notRun.length > 0) console.log(["", "Did not run:", ...notRun.map(nameOf)].join("\n"))
    console.log(`\n${passed} passed, ${failed} failed${notRun.length > 0 ? `, ${notRun.length} skipped` : ""}`)
  }
}

const nameOf = (test: TestCase): string => {
  const result = test.result()
  const reason = result.state === "skipped" ? result.note : "the run ended before it"
  return `  ${test.module.relativeModuleId} > ${test.fullName}${reason === undefined ? "" : `: ${reason}`}`
}
