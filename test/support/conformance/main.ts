/**
 * `npm run conformance` runs the conformance suite in both eras, and writes docs/conformance.md.
 */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { RawHttp } from "../servers/RawHttp.ts"
import { compare } from "./Comparison.ts"
import { report } from "./Report.ts"
import { REVISIONS } from "./Scenarios.ts"

const run = Effect.gen(function* () {
  const { port } = yield* RawHttp
  const origin = `http://127.0.0.1:${port}`
  const comparisons = yield* Effect.forEach(REVISIONS, (revision) => compare(origin, revision))
  return comparisons
})

const comparisons = await Effect.runPromise(
  Effect.provide(run, RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }))
)
for (const { failures, revision, scenarios } of comparisons) {
  for (const { direct, kept, scenario, through } of scenarios) {
    console.log(
      `${kept ? "ok  " : "LOST"} ${revision} ${scenario}: ${direct.passed}, through the door ${through.passed}`
    )
  }
  if (process.argv.includes("--verbose")) console.log(failures.join("\n"))
}
writeFileSync(join(import.meta.dirname, "../../../docs/conformance.md"), report(comparisons))
process.exitCode = comparisons.every(({ scenarios }) => scenarios.every(({ kept }) => kept)) ? 0 : 1
