/**
 * docs/threat-model.md names existing tests, and the files where its limits are defined.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dirname, "../../..")
const text = readFileSync(join(ROOT, "docs/threat-model.md"), "utf8")

const section = (title: string): string => text.split(/^## /mu).find((part) => part.startsWith(`${title}\n`)) ?? ""

/** Without the header rows. */
const rowsOf = (title: string): ReadonlyArray<string> =>
  section(title)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)

const testsIn = (part: string): ReadonlyArray<string> =>
  [...part.matchAll(/`(test\/[^`]+)`/gu)].map(([, file]) => file!)

describe("the threat model", () => {
  it("names existing tests", () => {
    assert.deepStrictEqual(
      testsIn(text).filter((file) => !existsSync(join(ROOT, file))),
      []
    )
  })

  it("has a test for every threat and for every limit", () => {
    const rows = [...rowsOf("Threats"), ...rowsOf("Limits")]
    assert.isAbove(rows.length, 40)
    assert.deepStrictEqual(
      rows.filter((row) => testsIn(row).length === 0),
      []
    )
  })

  it("names every test in test/security", () => {
    const named = new Set(testsIn(text))
    const there = readdirSync(join(ROOT, "test/security")).map((file) => `test/security/${file}`)
    assert.isAbove(there.length, 3)
    assert.deepStrictEqual(
      there.filter((file) => !named.has(file)),
      []
    )
  })

  it("names the file of every limit", () => {
    for (const row of rowsOf("Limits")) {
      const [, name, file] = /`(\w+)` in `([^`]+)`/u.exec(row) ?? []
      assert.isDefined(file, row)
      const source = readFileSync(join(ROOT, file!), "utf8")
      assert.match(source, new RegExp(`\\b${name}\\b(?: =|:)`, "u"), row)
    }
  })
})
