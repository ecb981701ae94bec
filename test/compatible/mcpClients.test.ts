/**
 * MCP clients that are not ours, at the door of a provider: they connect, list, call and are refused with nothing but a URL
 * and a key.
 */
import { createMCPClient } from "@ai-sdk/mcp"
import { assert, it } from "@effect/vitest"
import { MultiServerMCPClient } from "@langchain/mcp-adapters"
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import type { DoorMarket } from "../support/mcp/DoorMarket.ts"
import { strangerMarket } from "../support/mcp/StrangerMarket.ts"

const MODULES = join(projectRoot, "node_modules")
const PRICE = 500
const SIMPLE = "This is a simple text response for testing."
const IDENTITY = { name: "a stranger", version: "1" }

const bearer = ({ key }: DoorMarket) => ({ authorization: `Bearer ${key}` })

/** With a session, and the responses that they check themselves. */
const sdk1 = async (market: DoorMarket) => {
  const client = new Client1(IDENTITY)
  await client.connect(new Http1(new URL(market.door), { requestInit: { headers: bearer(market) } }) as Transport)
  return client
}

const sdk2 = async (market: DoorMarket) => {
  const client = new Client2(IDENTITY, { versionNegotiation: { mode: "auto" } })
  await client.connect(new Http2(new URL(market.door), { requestInit: { headers: bearer(market) } }))
  return client
}

const costOf = (result: object): unknown =>
  (result as { _meta?: Record<string, { cost_microcents?: number }> })._meta?.["agent-tool-billing/billing"]
    ?.cost_microcents

const refusalOf = (result: object): string => {
  const { content, isError } = result as { isError?: boolean; content: ReadonlyArray<{ text: string }> }
  assert.strictEqual(isError, true, JSON.stringify(result))
  assert.lengthOf(content, 1)
  return content[0]!.text
}

const MARKET = RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" })

it.layer(MARKET, { timeout: "120 seconds", excludeTestServices: true })("At the door of a provider", (it) => {
  const meets = (name: string, use: (rich: DoorMarket, broke: DoorMarket) => Promise<void>) =>
    it.effect(
      name,
      () =>
        Effect.gen(function* () {
          const [rich, broke] = [yield* strangerMarket(1_000), yield* strangerMarket(0)]
          yield* Effect.promise(() => use(rich, broke))
        }),
      240_000
    )

  meets("the 1.x SDK connects, lists, reads, calls with progress, and is refused", async (rich, broke) => {
    const client = await sdk1(rich)
    const { tools } = await client.listTools()
    const strict = tools.find(({ name }) => name === "strict_weather")!
    assert.deepInclude(strict._meta?.["agent-tool-billing/price"], { price_microcents: PRICE })
    const called = await client.callTool({ name: "test_simple_text", arguments: {} })
    assert.deepStrictEqual(called["content"], [{ type: "text", text: SIMPLE }])
    assert.strictEqual(costOf(called), PRICE)
    const { structuredContent } = await client.callTool({ name: "strict_weather", arguments: { city: "Bern" } })
    assert.deepStrictEqual(structuredContent, { temperature: 21.5 })
    const heard: Array<number> = []
    await client.callTool({ name: "test_tool_with_progress", arguments: {} }, undefined, {
      onprogress: ({ progress }) => heard.push(progress)
    })
    assert.deepStrictEqual(heard, [0, 50, 100])
    const { contents } = await client.readResource({ uri: "test://static-text" })
    assert.include(JSON.stringify(contents), "static text resource")
    const { prompts } = await client.listPrompts()
    assert.include(
      prompts.map(({ name }) => name),
      "test_simple_prompt"
    )
    await client.close()

    const poor = await sdk1(broke)
    await poor.listTools()
    const refused = refusalOf(await poor.callTool({ name: "strict_weather", arguments: { city: "Bern" } }))
    assert.match(refused, /\$0\.0005/u)
    assert.match(refused, /https?:\/\/\S+/u)
    await poor.close()
  })

  meets("the 2.x SDK connects in the modern era, lists, calls, and is refused", async (rich, broke) => {
    const client = await sdk2(rich)
    const { tools } = await client.listTools()
    assert.include(
      tools.map(({ name }) => name),
      "strict_weather"
    )
    const called = await client.callTool({ name: "test_simple_text", arguments: {} })
    assert.strictEqual(costOf(called), PRICE)
    const { structuredContent } = await client.callTool({ name: "strict_weather", arguments: { city: "Bern" } })
    assert.deepStrictEqual(structuredContent, { temperature: 21.5 })
    await client.close()

    const poor = await sdk2(broke)
    await poor.listTools()
    refusalOf(await poor.callTool({ name: "strict_weather", arguments: { city: "Bern" } }))
    refusalOf(await poor.callTool({ name: "test_simple_text", arguments: {} }))
    await poor.close()
  })

  meets("the inspector lists and calls on the command line, and is refused", async (rich, broke) => {
    const main = join(MODULES, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
    const inspect = async (market: DoorMarket, ...args: ReadonlyArray<string>) => {
      const header = ["--header", `Authorization: Bearer ${market.key}`]
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [main, "--cli", market.door, "--transport", "http", ...header, ...args],
        { timeout: 100_000, env: { ...process.env, MCP_CATALOG_PATH: "/dev/null" } }
      ).catch((error: { stdout: string }) => error)
      return stdout
    }
    assert.include(await inspect(rich, "--method", "tools/list"), "strict_weather")
    const call = ["--method", "tools/call", "--tool-name", "test_simple_text"]
    assert.include(await inspect(rich, ...call), SIMPLE)
    assert.match(await inspect(broke, ...call), /"isError": ?true/u)
  })

  meets("mcp-remote gives a local client the tools, calls, and refusals", async (rich, broke) => {
    const throughStdio = async ({ door, key }: DoorMarket) => {
      const client = new Client1(IDENTITY)
      const args = [
        join(MODULES, "mcp-remote/dist/proxy.js"),
        door,
        "--allow-http",
        "--header",
        `Authorization:Bearer ${key}`
      ]
      await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }) as Transport)
      return client
    }
    const client = await throughStdio(rich)
    assert.isAbove((await client.listTools()).tools.length, 20)
    assert.strictEqual(costOf(await client.callTool({ name: "test_simple_text", arguments: {} })), PRICE)
    await client.close()
    const poor = await throughStdio(broke)
    refusalOf(await poor.callTool({ name: "test_simple_text", arguments: {} }))
    await poor.close()
  })

  meets("the AI SDK has the tools, and its calls are billed and refused", async (rich, broke) => {
    const run = async (market: DoorMarket) => {
      const client = await createMCPClient({ transport: { type: "http", url: market.door, headers: bearer(market) } })
      const { test_simple_text: tool } = await client.tools()
      const result: unknown = await tool?.execute({}, { toolCallId: "1", messages: [], context: undefined })
      await client.close()
      return result
    }
    const called = await run(rich)
    assert.include(JSON.stringify(called), SIMPLE)
    assert.include(JSON.stringify(await run(broke)), "$0.0005")
  })

  meets("LangChain has the tools, and its calls are billed and refused", async (rich, broke) => {
    const run = async (market: DoorMarket) => {
      const client = new MultiServerMCPClient({
        mcpServers: { market: { transport: "http", url: market.door, headers: bearer(market) } }
      })
      const tools = await client.getTools()
      const result: unknown = await tools
        .find(({ name }) => name === "test_simple_text")!
        .invoke({})
        .catch((error: Error) => error.message)
      await client.close()
      return JSON.stringify(result)
    }
    assert.include(await run(rich), SIMPLE)
    assert.include(await run(broke), "$0.0005")
  })

  meets("a client with the key in x-api-key, or none, gets what HTTP says", async ({ door, key }) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
    const ask = async (more: Record<string, string>, method = "POST") => {
      const init = { method, headers: { ...headers, ...more }, ...(method === "POST" ? { body } : {}) }
      const response = await fetch(door, init)
      await response.body?.cancel()
      return { status: response.status, challenge: response.headers.get("www-authenticate") }
    }
    // A GET without a session is the older transport's: its clients get a sentence.
    assert.strictEqual((await ask({}, "GET")).status, 405)
    for (const method of ["POST", "DELETE"]) {
      for (const wrong of [{}, { authorization: "Bearer atb_c_unknown" }]) {
        const { challenge, status } = await ask(wrong, method)
        assert.strictEqual(status, 401, method)
        assert.match(challenge ?? "", /^Bearer/u)
      }
    }
    assert.notStrictEqual((await ask({ "x-api-key": key })).status, 401)
    assert.strictEqual((await ask({ "x-api-key": key, origin: "https://evil.example" })).status, 403)
  })
})
