import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { API_VERSION } from "../../../adapters/http/contract/BaseUrl.ts"
import manifest from "../../../package.json" with { type: "json" }
import { projectRoot } from "../../support/project/PlantedProject.ts"

const text = readFileSync(join(projectRoot, "CHANGELOG.md"), "utf8")

/** As Keep a Changelog writes a release. */
const HEADING = /^## (?<version>\d+\.\d+\.\d+) - (?<date>\d{4}-\d\d-\d\d)$/gmu

const releases = [...text.matchAll(HEADING)].map(({ groups }) => ({
  version: groups!["version"]!,
  date: groups!["date"]!
}))

const numbers = (version: string) => version.split(".").map(Number)
const isNewer = (a: string, b: string): boolean => {
  const [x, y] = [numbers(a), numbers(b)]
  const at = x.findIndex((part, n) => part !== y[n])
  return at !== -1 && x[at]! > y[at]!
}

describe("the changelog", () => {
  it("starts with the version of package.json and the API", () => {
    assert.strictEqual(releases[0]?.version, manifest.version)
    assert.strictEqual(manifest.version, API_VERSION)
  })

  it("lists each version once, newest first, with valid dates", () => {
    assert.lengthOf(releases, text.match(/^## /gmu)!.length)
    for (const [n, { date, version }] of releases.entries()) {
      assert.strictEqual(new Date(date).toJSON().slice(0, 10), date)
      if (n > 0) assert.isTrue(isNewer(releases[n - 1]!.version, version))
    }
  })

  it("has only what its page shows: releases, subjects, and changes that begin with their kind", () => {
    const [, ...sections] = text.split(/^## /mu)
    for (const section of sections) {
      const [, ...subjects] = section.split(/^### /mu)
      assert.isNotEmpty(subjects)
      for (const subject of subjects) {
        const [, ...lines] = subject.split("\n").filter((line) => line !== "")
        assert.isNotEmpty(lines)
        for (const line of lines) assert.match(line, /^- (?:Added|Changed|Deprecated|Removed|Fixed|Security) \S/u)
      }
    }
  })
})
