/**
 * The official MCP clients of both eras at a door, with nothing but a URL and a key, and what both can do.
 */
import * as modern from "@modelcontextprotocol/client"
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { MODERN_VERSION } from "../../../domain/upstream/Protocol.ts"

export interface Called {
  readonly isError?: boolean
  readonly text: string
  readonly structured: Readonly<Record<string, unknown>> | undefined
}

export interface AnyClient {
  readonly names: () => Promise<ReadonlyArray<string>>
  readonly descriptions: () => Promise<string>
  readonly call: (name: string, args: Readonly<Record<string, unknown>>) => Promise<Called>
  readonly close: () => Promise<void>
}

/** `onChange`: the list of tools has changed. */
export type Connect = (url: string, key: string, onChange: () => void) => Promise<AnyClient>

const INFO = { name: "test", version: "1" }

const calledOf = (answer: object): Called => {
  const { content, isError, structuredContent } = answer as {
    readonly content: ReadonlyArray<{ readonly text?: string }>
    readonly isError?: boolean
    readonly structuredContent?: Readonly<Record<string, unknown>>
  }
  return { isError: isError === true, text: content[0]?.text ?? "", structured: structuredContent }
}

const sdk2: Connect = async (url, key, onChange) => {
  const client = new modern.Client(INFO, {
    versionNegotiation: { mode: { pin: MODERN_VERSION } },
    listChanged: { tools: { autoRefresh: false, onChanged: onChange } }
  })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new modern.StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    descriptions: async () => (await client.listTools()).tools.map(({ description }) => description).join("\n"),
    call: async (name, args) => calledOf(await client.callTool({ name, arguments: args })),
    close: () => client.close()
  }
}

const sdk1: Connect = async (url, key, onChange) => {
  const client = new LegacyClient(INFO)
  client.setNotificationHandler(ToolListChangedNotificationSchema, onChange)
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  // `connect` does not wait for the stream of announcements that it opens.
  const listening = Promise.withResolvers<void>()
  const noting = async (to: string | URL, init?: RequestInit) => {
    const response = await fetch(to, init)
    if (init?.method === "GET") listening.resolve()
    return response
  }
  await client.connect(new LegacyTransport(new URL(url), { requestInit, fetch: noting }) as never)
  await listening.promise
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    descriptions: async () => (await client.listTools()).tools.map(({ description }) => description).join("\n"),
    call: async (name, args) => calledOf(await client.callTool({ name, arguments: args })),
    close: () => client.close()
  }
}

export const OFFICIAL_CLIENTS: ReadonlyArray<readonly [name: string, connect: Connect]> = [
  ["SDK 2.x, modern", sdk2],
  ["SDK 1.x, legacy", sdk1]
]
