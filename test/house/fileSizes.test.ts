/** A file holds one capability, and is short enough to be read in one sitting. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"

const LINES_MAX = 600

const GENERATED = "client/Contract.ts"

const textOf = (file: string): string => readFileSync(join(projectRoot, file), "utf8")

const tooLong = (texts: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.keys(texts).filter((file) => texts[file]!.split("\n").length - 1 > LINES_MAX)

describe("file sizes", () => {
  const files = globSync("{domain,adapters,src,client,migrations}/**/*.ts", { cwd: projectRoot })

  it(`are at most ${LINES_MAX} lines, except the generated client`, () => {
    assert.isAbove(files.length, 500)
    const long = tooLong(Object.fromEntries(files.map((file) => [file, textOf(file)])))
    assert.sameMembers([...long], [GENERATED])
  })

  it("are found above the limit", () => {
    const lines = (count: number) => "export {}\n".repeat(count)
    assert.deepStrictEqual(
      tooLong({ "domain/a/Short.ts": lines(LINES_MAX), "domain/a/Long.ts": lines(LINES_MAX + 1) }),
      ["domain/a/Long.ts"]
    )
  })
})
