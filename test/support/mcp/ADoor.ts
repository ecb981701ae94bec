/**
 * A provider's door over HTTP, with a scripted modern server behind it and a consumer with funds before it.
 */
import { Effect } from "effect"
import { type Answer, json, result, type Script, scriptedServer, text } from "../../../testing/mcp/ScriptedServer.ts"
import { loadMarket, walletOf } from "../load/LoadMarket.ts"
import { RawHttp } from "../servers/RawHttp.ts"
import { ask, type Asked } from "./DoorClient.ts"

export const SETTINGS = {
  PAYMENTS: "dry_run",
  ALLOW_UPSTREAM: "loopback",
  RATE_LIMIT_RPM: "1000",
  RATE_LIMIT_IP_RPM: "0"
}
export const LOADED = 1_000_000
export const ECHO = {
  name: "echo",
  description: "Repeats.",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
  annotations: { readOnlyHint: true },
  vendor: 1.5
}
const HIDDEN = { name: "hidden", inputSchema: { type: "object" } }

/** A modern server whose handshake and lists are complete. */
export const onOther: Script["onOther"] = (seen, response) => {
  const answer = (value: object) => {
    json(response, result(seen, { resultType: "complete", ...value }))
    return true
  }
  switch (seen.method) {
    case "server/discover":
      return answer({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
        instructions: "Be kind.",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } }
      })
    case "tools/list":
      return answer({ tools: [ECHO, HIDDEN], ttlMs: 60_000, cacheScope: "public" })
    case "prompts/list":
      return answer({ prompts: [{ name: "p" }], ttlMs: 9, cacheScope: "public", other: 1 })
    case "resources/read":
      return answer({ contents: [{ uri: seen.params["uri"], text: "1.0" }] })
    default:
      return false
  }
}

export const aDoor = Effect.fnUntraced(function* (
  onCall: Answer,
  options: { readonly tool?: object; readonly cents?: number; readonly onOther?: Script["onOther"] } = {}
) {
  const { port } = yield* RawHttp
  const base = `http://127.0.0.1:${port}`
  const server = yield* scriptedServer({ era: "modern", onCall, onOther: options.onOther ?? onOther! })
  const { buyers, providerId, providerKey } = yield* loadMarket(base, server, {
    buyers: 1,
    cents: options.cents ?? LOADED / 10_000,
    tool: { ...options.tool }
  })
  const [key] = buyers
  const url = `${base}/mcp/${providerId}`
  const send = (asked: Omit<Asked, "url" | "key">) => ask({ url, key: key!, ...asked })
  const call = (args: object = {}, meta: object = {}, headers: Record<string, string> = {}) =>
    send({ method: "tools/call", params: { name: "echo", arguments: args }, meta: meta as never, headers })
  return { base, url, key: key!, providerKey, server, send, call, wallet: walletOf(base, key!) }
})

export const fine: Answer = (seen, response) => json(response, result(seen, text("fine")))
