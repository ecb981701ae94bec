import { assert, describe, it } from "@effect/vitest"
import { API_VERSION } from "../../adapters/http/contract/Versions.ts"
import { changelog, changelogMarkdown } from "../../adapters/site/changelog/ChangelogEntries.ts"
import manifest from "../../package.json" with { type: "json" }

const numbers = (version: string) => version.split(".").map(Number)
const isNewer = (a: string, b: string): boolean => {
  const [x, y] = [numbers(a), numbers(b)]
  const at = x.findIndex((part, n) => part !== y[n])
  return at !== -1 && x[at]! > y[at]!
}

describe("the changelog", () => {
  it("starts with the version of package.json and the API", () => {
    assert.strictEqual(changelog[0]?.version, manifest.version)
    assert.strictEqual(manifest.version, API_VERSION)
  })

  it("lists each version once, newest first, with valid dates", () => {
    for (const [n, entry] of changelog.entries()) {
      assert.match(entry.version, /^\d+\.\d+\.\d+$/u)
      for (const date of [entry.from, entry.to]) assert.strictEqual(new Date(date).toJSON().slice(0, 10), date)
      assert.isAtMost(Date.parse(entry.from), Date.parse(entry.to))
      if (n > 0) assert.isTrue(isNewer(changelog[n - 1]!.version, entry.version))
      assert.isNotEmpty(entry.parts.flatMap(({ items }) => items))
    }
  })

  it("has every entry in Markdown", () => {
    const markdown = changelogMarkdown(changelog)
    assert.match(markdown, /^# Changelog\n\n## \d/u)
    for (const { parts, summary, version } of changelog) {
      for (const text of [`## ${version} (`, summary, ...parts.map(({ title }) => `### ${title}`)])
        assert.include(markdown, text)
      for (const item of parts.flatMap(({ items }) => items)) assert.include(markdown, `\n- ${item}\n`)
    }
  })
})
