/**
 * Every chapter with samples of the shell or of TypeScript names the test that runs them, or why none can.
 */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { globSync } from "node:fs"
import { projectRoot } from "../../support/project/PlantedProject.ts"

/** Run as shown, by this test. */
const RUN: Readonly<Record<string, string>> = {
  "README.md": "test/start/demoProvider.test.ts",
  "docs/backup.md": "test/backup/printedCommands.test.ts",
  "docs/clients.md": "test/embedding/ProgramSuite.ts",
  "docs/embedding.md": "test/embedding/ProgramSuite.ts",
  "docs/mcp.md": "test/mcp/doors/docsSamples.test.ts",
  "docs/payments.md": "test/payments/double.test.ts",
  "docs/testing.md": "test/testing/programs.test.ts"
}

/** The guides are served as pages, from where one test takes their samples. */
const GUIDES = "test/http/docs/docsSamples.test.ts"

const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/api.md": "declarations of the modules, which are generated and not programs",
  "docs/deployment.md":
    "containers, and an installation by root; test/operations/deployment.test.ts compares them with the files",
  "docs/operations.md": "a collector of traces must listen; test/telemetry has one",
  "docs/receipts.md":
    "a witness runs until it is stopped, with the key of a log that the reader trusts; test/log/witness.test.ts",
  "docs/retention.md": "erases the account of the reader's choice; test/platform/erasure.test.ts"
}

/** The README's blocks outside the chapter "First call", all of whose commands are run. */
const NOT_RUN_OF_README: Readonly<Record<string, string>> = {
  Start:
    "installs the packages of the project again, and starts this whole run; test/start has the service as `npm start` runs it"
}

const chapters = [...globSync("docs/**/*.md", { cwd: projectRoot }), "README.md"].filter((file) =>
  /^```(?:sh|ts)$/mu.test(readFileSync(join(projectRoot, file), "utf8"))
)

it("names a test, or a reason, for every chapter with samples, and for no other", () => {
  const named = [...Object.keys(RUN), ...Object.keys(NOT_RUN)]
  const listed = chapters.filter((file) => !file.startsWith("docs/guides/"))
  assert.deepStrictEqual(named.toSorted(), listed.toSorted())
})

it("names tests that read these chapters", () => {
  for (const [file, test] of Object.entries(RUN)) {
    const text = readFileSync(join(projectRoot, test), "utf8")
    assert.isTrue(text.includes(file) || text.includes(file.replace("docs/", "../../docs/")), `${test} of ${file}`)
  }
  assert.include(readFileSync(join(projectRoot, GUIDES), "utf8"), "hasSamples")
})

it("names a reason for every chapter of the README with samples, except the first call", () => {
  const [, ...parts] = readFileSync(join(projectRoot, "README.md"), "utf8").split(/^## /mu)
  const withSamples = parts.filter((part) => /^```sh$/mu.test(part)).map((part) => part.split("\n")[0]!)
  assert.sameMembers(withSamples, ["First call", ...Object.keys(NOT_RUN_OF_README)])
})
