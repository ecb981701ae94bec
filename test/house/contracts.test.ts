/**
 * Every port that another program may implement has a contract that it can run: exported, documented and run by our own tests.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { entries, kindOf, modules } from "../support/api/Entries.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

/** Ports whose adapters no rule can check without the system behind them, and why. */
const WITHOUT_CONTRACT: Readonly<Record<string, string>> = {
  LogReader: "it reads the log of another service",
  Mailer: "a mail server decides whether a message arrives",
  ProofReader: "it reads the DNS, the sites and the repositories of others"
}

const textsOf = (pattern: string) =>
  globSync(pattern, { cwd: projectRoot }).map((file) => readFileSync(join(projectRoot, file), "utf8"))

const ports = modules()
  .flatMap(({ exports }) => exports)
  .filter((one) => one.module.startsWith("domain/") && kindOf(one) === "port")
const contracts = entries()
  .find(({ name }) => name === "agent-tool-billing/testing")!
  .exports.filter(({ name }) => /^[a-z]\w*Contract$/u.test(name))
const rules = textsOf("testing/contracts/**/*.ts").join("\n")
const tests = textsOf("test/**/*.test.ts").join("\n")
const rows = [
  ...readFileSync(join(projectRoot, "docs/testing.md"), "utf8").matchAll(/^\| `(\w+Contract)` +\| (.*\S) +\|$/gmu)
].map(([, contract, text]) => ({ contract: contract!, text: text! }))

describe("The contracts of ports", () => {
  it("are listed in docs/testing.md, each once", () => {
    assert.sameMembers(
      rows.map(({ contract }) => contract),
      contracts.map(({ name }) => name)
    )
  })

  it("cover every port of the domain but those that need a system of others", () => {
    const checked = ports.filter(
      ({ name }) =>
        new RegExp(`(?:yield\\* |\\()${name}\\b`, "u").test(rules) &&
        rows.some(({ text }) => text.includes(`\`${name}\``))
    )
    const unchecked = ports.map(({ name }) => name).filter((name) => !checked.some((one) => one.name === name))
    assert.sameMembers(unchecked, Object.keys(WITHOUT_CONTRACT))
  })

  it("are run by a test over an adapter of this package", () => {
    const unused = contracts.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`, "u").test(tests))
    assert.deepStrictEqual(unused, [])
  })
})
