/**
 * A tool that takes longer than its time-out and reports progress, as server-everything's long operation with its defaults:
 * it works through each door and through the REST API, whether its caller wants the progress or not.
 */
import { assert, it } from "@effect/vitest"
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { type DoorMarket, doorMarket } from "../../support/mcp/DoorMarket.ts"
import { everythingServer } from "../../support/mcp/servers/RealServers.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"

const TOOL = "trigger-long-running-operation"

interface Params {
  readonly name: string
  readonly arguments: Record<string, unknown>
}
type Call = (
  market: DoorMarket,
  url: string,
  params: Params,
  wanted: { readonly onprogress?: (report: { readonly progress: number }) => void }
) => Promise<unknown>

const initOf = ({ key }: DoorMarket) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

const legacy: Call = async (market, url, params, wanted) => {
  const client = new Client1({ name: "one", version: "1" })
  await client.connect(new Http1(new URL(url), initOf(market)) as Transport)
  return await client.callTool(params, undefined, wanted)
}

const modern: Call = async (market, url, params, wanted) => {
  const client = new Client2({ name: "two", version: "1" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(new Http2(new URL(url), initOf(market)))
  return await client.callTool(params, wanted)
}

const rest: Call = async ({ client }, _url, { arguments: { tool } }, { onprogress }) => {
  const payload = { tool_name: String(tool), input: {} }
  return await client.calls.proxy({ payload, ...(onprogress && { onProgress: onprogress }) })
}

it.layer(RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }), {
  timeout: "120 seconds",
  excludeTestServices: true
})("The long operation of server-everything", (it) => {
  it.effect(
    "works with its defaults",
    () =>
      Effect.gen(function* () {
        const { port } = yield* RawHttp
        const { url: upstream } = yield* everythingServer
        const market = yield* doorMarket(`http://127.0.0.1:${port}`, { upstream, tools: [TOOL] })
        const own = { name: TOOL, arguments: {} }
        const named = {
          name: "call_tool",
          arguments: { tool: `${market.door.split("/").at(-1)}/${TOOL}`, arguments: {} }
        }
        const ways = [
          ["a provider's door, legacy", legacy, market.door, own],
          ["a provider's door, modern", modern, market.door, own],
          ["the market's door, legacy", legacy, market.market, named],
          ["the market's door, modern", modern, market.market, named],
          ["REST", rest, "", named]
        ] as const
        yield* Effect.forEach(
          ways.flatMap((way) => [true, false].map((isWanted) => [isWanted, ...way] as const)),
          ([isWanted, name, call, url, params]) =>
            Effect.promise(async () => {
              const heard: Array<number> = []
              const onprogress = ({ progress }: { readonly progress: number }) => void heard.push(progress)
              const result = await call(market, url, params, isWanted ? { onprogress } : {})
              const shown = `${name}: ${JSON.stringify(result)}`
              assert.include(shown, "Long running operation completed. Duration: 10 seconds, Steps: 5.")
              assert.deepStrictEqual(heard, isWanted ? [1, 2, 3, 4, 5] : [], shown)
            }),
          { concurrency: "unbounded" }
        )
      }),
    240_000
  )
})
