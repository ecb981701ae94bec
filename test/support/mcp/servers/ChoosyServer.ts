/**
 * A server of both eras that lists its tools by the era and the capabilities of the client.
 */
import { json, result, scriptedServer, text } from "../../../../testing/mcp/ScriptedServer.ts"
import { CLIENT_CAPABILITIES_META } from "../../../../domain/upstream/Protocol.ts"

export interface ChoosyTool {
  readonly name: string
  /** Of both, if undefined. */
  readonly era?: "modern" | "legacy"
  /** Listed to clients that declare it; `unless`: to others. */
  readonly needs?: string
  readonly unless?: string
}

/** `LIST_META`: of each list itself. */
export const LIST_META = { "example.org/edition": "7" }

const fields = (value: unknown): Readonly<Record<string, unknown>> => (value ?? {}) as Readonly<Record<string, unknown>>

export type Eras = ReadonlyArray<"modern" | "legacy">

/** `isDown`: it opens no session. */
export const choosyServer = (tools: ReadonlyArray<ChoosyTool>, eras: Eras, isDown = () => false) => {
  const sessions = new Map<string, unknown>()
  const listed = (era: "modern" | "legacy", capabilities: unknown) =>
    tools
      .filter((one) => one.era === undefined || one.era === era)
      .filter(({ needs }) => needs === undefined || needs in fields(capabilities))
      .filter(({ unless }) => unless === undefined || !(unless in fields(capabilities)))
      .map(({ name }) => ({
        name,
        description: era,
        inputSchema: { type: "object" },
        ...(era === "legacy" ? { execution: { taskSupport: "optional" } } : {})
      }))
  return scriptedServer({
    era: eras.includes("modern") ? "modern" : "stateful",
    onCall: (seen, response) => json(response, result(seen, text(String(seen.params["name"])))),
    onOther: (seen, response) => {
      const session = seen.headers["mcp-session-id"]
      const said = (value: object, headers = {}) => {
        json(response, result(seen, value), 200, headers)
        return true
      }
      if (seen.method === "server/discover" && eras.includes("modern")) {
        return said({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } })
      }
      if (seen.method === "initialize" && eras.includes("legacy")) {
        if (isDown()) return json(response, {}, 503) === undefined
        const id = `choosy-${sessions.size}`
        sessions.set(id, seen.params["capabilities"])
        const serverInfo = { name: "choosy", version: "1" }
        const answer = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo }
        return said(answer, { "mcp-session-id": id })
      }
      if (seen.method === "tools/list") {
        const meta = fields(seen.params["_meta"])
        const own =
          typeof session === "string"
            ? listed("legacy", sessions.get(session))
            : listed("modern", meta[CLIENT_CAPABILITIES_META])
        return said({ resultType: "complete", tools: own, _meta: LIST_META })
      }
      if (typeof session !== "string" || (seen.http !== "DELETE" && seen.id !== undefined)) return false
      response.writeHead(202).end()
      return true
    }
  })
}
