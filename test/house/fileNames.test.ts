/**
 * How files are named: modules after their main export, tests and programs in camelCase.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../support/project/PlantedProject.ts"

const filesOf = (room: string): ReadonlyArray<string> =>
  readdirSync(join(projectRoot, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${room}/${name}`)

const nameOf = (file: string): string => file.slice(file.lastIndexOf("/") + 1)

const MODULE = /^[A-Z][A-Za-z0-9]*(?:\.browser)?\.ts$/u
const PROGRAM_OR_SUITE = /^[a-z][A-Za-z0-9]*(?:\.test|\.quick\.config)?\.ts$/u

/** Entry points, and migrations by number. */
const ENTRY = /^(?:src\/(?:main|entries\/[a-z][A-Za-z]*)|testing\/index|migrations\/(?:index|\d{4}_\w+))\.ts$/u

/** Names that two rooms of the domain share. */
const SHARED = new Set(["Verification.ts"])

/** The domain, `src` or an adapter: the HTTP API names a file after the resource, as the domain does. */
const partOf = (file: string): string => file.split("/", file.startsWith("adapters/") ? 2 : 1).join("/")

/** A page's server part and its browser part share a name and a folder. */
const repeated = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Map<string, string>()
  return files.filter((file) => {
    const name = `${partOf(file)} ${nameOf(file).replace(".browser", "")}`
    const other = seen.get(name)
    seen.set(name, file)
    return (
      other !== undefined &&
      other.replace(".ts", ".browser.ts") !== file &&
      file.replace(".ts", ".browser.ts") !== other
    )
  })
}

const misnamed = (files: ReadonlyArray<string>, form: RegExp): ReadonlyArray<string> =>
  files.filter((file) => !form.test(nameOf(file)) && !ENTRY.test(file))

describe("file names", () => {
  it("of modules are those of their main exports", () => {
    assert.deepStrictEqual(
      misnamed(["src", "domain", "adapters", "migrations", "testing"].flatMap(filesOf), MODULE),
      []
    )
  })

  it("of modules are unique in their part", () => {
    const files = ["src", "domain", "adapters"].flatMap(filesOf)
    assert.deepStrictEqual(
      repeated(files).filter((file) => !SHARED.has(nameOf(file))),
      []
    )
    const planted = [
      "adapters/a/x/Page.browser.ts",
      "adapters/a/x/Page.ts",
      "adapters/b/Page.ts",
      "adapters/a/y/Page.ts"
    ]
    assert.deepStrictEqual(repeated(planted), ["adapters/a/y/Page.ts"])
  })

  it("of tests are in camelCase, of their modules in PascalCase", () => {
    const files = filesOf("test")
    const suites = files.filter((file) => file.endsWith(".test.ts"))
    assert.isAbove(suites.length, 200)
    assert.deepStrictEqual(misnamed(suites, PROGRAM_OR_SUITE), [])
    const others = files.filter((file) => !file.endsWith(".test.ts"))
    assert.deepStrictEqual(
      others.filter((file) => !MODULE.test(nameOf(file)) && !PROGRAM_OR_SUITE.test(nameOf(file))),
      []
    )
  })

  it.each([
    ["adapters/sql/ledger-store.ts", MODULE],
    ["adapters/sql/ledgerStore.ts", MODULE],
    ["test/http/Conventions.test.ts", PROGRAM_OR_SUITE],
    ["test/http/limits-redis.test.ts", PROGRAM_OR_SUITE]
  ])("%s is found", (file, form) => {
    assert.deepStrictEqual(misnamed([file], form), [file])
  })
})
