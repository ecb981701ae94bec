/**
 * Reads `tools/list` page by page, within limits: of pages, of tools, of the bytes of one definition and of all.
 */
import { Effect } from "effect"
import { METHOD_NOT_FOUND } from "../../domain/upstream/Protocol.ts"
import type { ListedTool, ToolList } from "../../domain/upstream/ProviderServers.ts"
import { elementsOf, memberOf } from "../../domain/shared/JsonText.ts"
import { isObject } from "./JsonRpc.ts"
import type { McpUpstreamOptions } from "./McpUpstreamOptions.ts"
import { type Link, postHeaders, toolListBody } from "./ProtocolEra.ts"
import type { Message, ProviderEndpoint } from "./ProviderEndpoint.ts"
import { fault, type Reply } from "./Reply.ts"
import { resumed } from "./Resumption.ts"
import { headerParametersOf } from "../../domain/mcp/HeaderParameters.ts"

export interface ReadList {
  readonly list: ToolList
  readonly bytes: number
  /** How long the server says that the list is valid. */
  readonly ttlMs: number | undefined
}

const NAME_CHARS_MAX = 256

/** The list, or the reply that prevented it. `meta`: of each request, in the modern era. */
export const readToolPages = Effect.fnUntraced(function* (
  endpoint: ProviderEndpoint,
  link: Link,
  meta: string,
  nowMs: () => number,
  untilMs: number
): Effect.fn.Return<ReadList | Reply> {
  const { options } = endpoint
  const pages = new Pages(options, link)
  const cursors = new Set<string>()
  let cursor: string | undefined = undefined
  for (let page = 0; page < options.toolPagesMax; page++) {
    const id = endpoint.nextId()
    const message: Message = {
      headers: postHeaders(link, "tools/list"),
      body: toolListBody(id, link.era === "modern" ? meta : undefined, cursor),
      id,
      link,
      timeoutMs: Math.max(1, Math.ceil(untilMs - nowMs()))
    }
    const first: Reply = yield* endpoint.ask(message)
    const reply: Reply =
      first.kind === "resumable" ? yield* resumed(endpoint, message, first, nowMs, untilMs, ignoreBytes) : first
    if (reply.kind === "rpc_error" && reply.error.code === METHOD_NOT_FOUND && page === 0) return pages.end(false)
    if (reply.kind !== "result") return reply
    const isRoom = pages.add(reply.result, reply.text ?? JSON.stringify(reply.result))
    if (isRoom === undefined) return malformed
    const next: unknown = reply.result["nextCursor"]
    if (typeof next !== "string" || next === "") return pages.end(!isRoom)
    // A cursor that comes again would never end.
    if (!isRoom || cursors.has(next)) return pages.end(true)
    cursors.add(next)
    cursor = next
  }
  return pages.end(true)
})

class Pages {
  private readonly options: McpUpstreamOptions
  private readonly link: Link
  private readonly tools = new Map<string, ListedTool>()
  private bytes = 0
  private omitted = false
  private ttlMs: number | undefined = undefined
  /** Of the first page that has one. */
  private meta: string | undefined = undefined

  constructor(options: McpUpstreamOptions, link: Link) {
    this.options = options
    this.link = link
  }

  /** Whether there is room for more tools; undefined if this is no page of tools. */
  add(result: Readonly<Record<string, unknown>>, text: string): boolean | undefined {
    const { tools, ttlMs } = result
    if (!Array.isArray(tools)) return undefined
    if (typeof ttlMs === "number" && ttlMs >= 0) this.ttlMs = Math.min(ttlMs, this.ttlMs ?? ttlMs)
    const meta = isObject(result["_meta"]) ? memberOf(text, 0, "_meta") : undefined
    if (this.meta === undefined && meta !== undefined && meta.length <= this.options.toolDefinitionBytesMax) {
      this.meta = meta
      this.bytes += meta.length
    }
    const texts = elementsOf(memberOf(text, 0, "tools") ?? "[]")
    for (let n = 0; n < tools.length; n++) {
      const definition: unknown = tools[n]
      const tool = isObject(definition) ? this.toolOf(definition, texts[n]!) : undefined
      if (tool === undefined || this.tools.has(tool.name)) continue
      if (tool.text.length > this.options.toolDefinitionBytesMax) {
        this.omitted = true
        continue
      }
      if (this.tools.size >= this.options.toolsMax || this.bytes + tool.text.length > this.options.toolListBytesMax) {
        return false
      }
      this.tools.set(tool.name, tool)
      this.bytes += tool.text.length
    }
    return true
  }

  end(truncated: boolean): ReadList {
    const list = {
      tools: [...this.tools.values()],
      truncated: truncated || this.omitted,
      ...(this.meta === undefined ? {} : { meta: this.meta })
    }
    return { list, bytes: this.bytes, ttlMs: this.ttlMs }
  }

  /** Undefined for a tool that cannot be called; the modern era requires that one with invalid headers is left out. */
  private toolOf(definition: Readonly<Record<string, unknown>>, text: string): ListedTool | undefined {
    const { inputSchema, name } = definition
    if (typeof name !== "string" || name === "" || name.length > NAME_CHARS_MAX) return undefined
    if (this.link.era === "modern" && headerParametersOf(inputSchema) === undefined) return undefined
    return { name, text, definition }
  }
}

const malformed = fault("malformed", "The provider's list of tools is not MCP")

const ignoreBytes = () => {}
