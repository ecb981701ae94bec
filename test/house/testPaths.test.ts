/**
 * docs/development.md names tests that exist.
 */
import { assert, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"

const tests = join(projectRoot, "test")
const rooms = readdirSync(tests, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

it("the chapter on development names only tests that exist", () => {
  const chapter = readFileSync(join(projectRoot, "docs/development.md"), "utf8")
  const named = [...chapter.matchAll(/`(?:test\/)?([a-z]+(?:\/\w+)+)(?:\.test)?(?:\.ts)?`/gu)]
    .map(([, path]) => path!)
    .filter((path) => rooms.includes(path.slice(0, path.indexOf("/"))))
  assert.isAbove(named.length, 30)
  const missing = named.filter((path) =>
    ["", ".ts", ".test.ts"].every((ending) => !existsSync(join(tests, `${path}${ending}`)))
  )
  assert.deepStrictEqual(missing, [])
})
