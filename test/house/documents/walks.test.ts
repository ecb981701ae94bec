/**
 * docs/architecture.md draws its walks through files that exist and are connected.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"

const ROOT = join(import.meta.dirname, "../../..")
const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8")

/** The stated number of lines may be off by this share. */
const LINES_OFF_MAX = 0.25

interface Walk {
  readonly title: string
  readonly files: ReadonlyArray<string>
  readonly stated: { readonly files: number; readonly domain: number; readonly lines: number }
}

const walks: ReadonlyArray<Walk> = text
  .split(/^### /mu)
  .slice(1)
  .map((part) => {
    const { domain, files, lines } =
      /^(?<files>\d+) files \((?<domain>\d+) in `domain\/`\), about (?<lines>[\d,]+) lines\.$/mu.exec(part)?.groups ??
      {}
    return {
      title: part.split("\n")[0]!,
      files: [...part.matchAll(/^\d+\. `(?<file>[^`]+)`/gmu)].map(({ groups }) => groups!["file"]!),
      stated: { files: Number(files), domain: Number(domain), lines: Number(lines?.replaceAll(",", "")) }
    }
  })

const sourceOf = (file: string): string => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), "utf8") : "")

const importsOf = (file: string): ReadonlyArray<string> =>
  [...sourceOf(file).matchAll(/(?:from|import\() ?"(?<path>\.[^"]+)"/gu)].map(({ groups }) =>
    posix.join(dirname(file), groups!["path"]!)
  )

const missing = (files: ReadonlyArray<string>) => files.filter((file) => !existsSync(join(ROOT, file)))

/** Neither imported by an earlier file nor importing one. */
const unconnected = (files: ReadonlyArray<string>) =>
  files.filter((file, index) => {
    const earlier = files.slice(0, index)
    const isReached = earlier.some((one) => importsOf(one).includes(file))
    return index > 0 && !isReached && !importsOf(file).some((one) => earlier.includes(one))
  })

describe("the walks of docs/architecture.md", () => {
  it("are four", () => {
    assert.strictEqual(walks.length, 4)
  })

  it.each(walks)("$title: names files that exist and are connected, and counts them", ({ files, stated }) => {
    assert.isAbove(files.length, 10)
    assert.deepStrictEqual(missing(files), [])
    assert.deepStrictEqual(unconnected(files), [])
    assert.strictEqual(stated.files, files.length)
    assert.strictEqual(stated.domain, files.filter((file) => file.startsWith("domain/")).length)
    const lines = files.map((file) => sourceOf(file).split("\n").length - 1).reduce((a, b) => a + b, 0)
    assert.closeTo(stated.lines, lines, lines * LINES_OFF_MAX)
  })

  it("are rejected with a file that is missing or not connected", () => {
    const [call] = walks
    assert.deepStrictEqual(missing([...call!.files, "domain/metering/Gone.ts"]), ["domain/metering/Gone.ts"])
    assert.deepStrictEqual(unconnected([...call!.files, "domain/operator/AccountSearch.ts"]), [
      "domain/operator/AccountSearch.ts"
    ])
  })
})
