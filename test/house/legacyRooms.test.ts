/**
 * The versions of MCP with sessions, 2025-11-25 and before, have rooms of their own, so that they can be deleted by date. A file
 * outside of them does not ask which era a client or a server is of: it calls members of a dialect.
 */
import { assert, describe, it } from "@effect/vitest"
import { projectSources } from "../support/house/ImportGraph.ts"

const ROOMS = ["adapters/http/mcp/legacy/", "adapters/mcp/legacy/"]

/** Why each of the others may name the era. */
const ALLOWED: Readonly<Record<string, string>> = {
  "domain/upstream/Protocol.ts": "lists the versions of both",
  "domain/catalog/EndpointProbe.ts": "reports the era of a server",
  "adapters/http/catalog/Import.ts": "shows the report, whose field has this name",
  "adapters/http/catalog/ImportApi.ts": "documents this field",
  "adapters/http/HttpService.ts": "puts the doors together",
  "adapters/mcp/McpUpstream.ts": "puts the client of providers' servers together"
}
const ALLOWED_MAX = 8

/** Also as a part of a name, such as `isLegacy` or `McpEra`; not in `erase` or `operation`. */
const MENTION = /legacy|LEGACY|Legacy|\b[Ee]ras?\b|(?<=[a-z])Eras?(?![a-z])|2025-(?:03-26|06-18|11-25)/u

const mentioning = (sources: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...sources]
    .filter(([path, text]) => /^(?:adapters|domain|migrations|src)\//u.test(path) && MENTION.test(text))
    .map(([path]) => path)
    .filter((path) => !ROOMS.some((room) => path.startsWith(room)))

describe("the legacy era of MCP", () => {
  it("is named by its rooms, and by these files only", () => {
    assert.sameMembers([...mentioning(projectSources())], Object.keys(ALLOWED))
    assert.isAtMost(Object.keys(ALLOWED).length, ALLOWED_MAX)
  })

  it.each([
    `if (request.era === "legacy") return billed\n`,
    `const isModern = ({ era }: DoorRequest) => era\n`,
    `if (isLegacy(request)) return billed\n`,
    `import type { McpEra } from "../upstream/Protocol.ts"\n`,
    `LEGACY_VERSIONS.includes(version)\n`,
    `if (version === "2025-11-25") return billed\n`
  ])("is found outside of its rooms: %s", (text) => {
    const planted = new Map([
      ["adapters/http/mcp/ToolCalls.ts", text],
      ["adapters/http/mcp/legacy/LegacyDoor.ts", text],
      ["test/mcp/A.ts", text]
    ])
    assert.deepStrictEqual(mentioning(planted), ["adapters/http/mcp/ToolCalls.ts"])
  })

  it("is not found in other words", () => {
    const text = `// An operation erases what it generates, in 2025-12-11.\nconst several = Erasure\n`
    assert.deepStrictEqual(mentioning(new Map([["domain/a/A.ts", text]])), [])
  })
})
