/**
 * The reference server of the conformance suite behind the door of a provider, for clients that are not ours: they get a URL
 * and a key, and nothing else.
 */
import { Effect } from "effect"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { referenceServer } from "../conformance/ReferenceServer.ts"
import { RawHttp } from "../servers/RawHttp.ts"
import { doorMarket } from "./DoorMarket.ts"

export const toolsOf = (url: string) =>
  Effect.promise(async () => {
    const client = new Client({ name: "lister", version: "1" })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport)
    const { tools } = await client.listTools()
    await client.close()
    return tools.map(({ name }) => name)
  })

/** With these funds, in cents. */
export const strangerMarket = Effect.fnUntraced(function* (funds: number) {
  const { port } = yield* RawHttp
  const upstream = yield* referenceServer
  return yield* doorMarket(`http://127.0.0.1:${port}`, { upstream, tools: yield* toolsOf(upstream), funds })
})
