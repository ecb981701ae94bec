/**
 * Files are short enough to be read at once. docs/architecture.md names the exceptions and explains them.
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/PlantedProject.ts"

const LINES_MAX = 250

const EXCEPTIONS = ["adapters/mcp/HttpExchange.ts", "migrations/ledger/OpenCalls.ts", "src/entries/core.ts"]
const GENERATED = "client/Contract.ts"

const textOf = (file: string): string => readFileSync(join(projectRoot, file), "utf8")

const tooLong = (texts: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.keys(texts).filter((file) => texts[file]!.split("\n").length - 1 > LINES_MAX)

describe("file sizes", () => {
  const files = globSync("{domain,adapters,src,client,migrations}/**/*.ts", { cwd: projectRoot })

  it(`are at most ${LINES_MAX} lines, with the exceptions that docs/architecture.md explains`, () => {
    assert.isAbove(files.length, 500)
    const long = tooLong(Object.fromEntries(files.map((file) => [file, textOf(file)])))
    assert.sameMembers([...long], [...EXCEPTIONS, GENERATED])
    for (const file of [...EXCEPTIONS, GENERATED]) assert.include(textOf("docs/architecture.md"), `\`${file}\``)
  })

  it("are found above the limit", () => {
    const lines = (count: number) => "export {}\n".repeat(count)
    assert.deepStrictEqual(tooLong({ "domain/a/Short.ts": lines(250), "domain/a/Long.ts": lines(251) }), [
      "domain/a/Long.ts"
    ])
  })
})
