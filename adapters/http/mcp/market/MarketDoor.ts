/**
 * The market door: the tools of the key's toolbox under their aliases, and tools of its own that find, price and call any
 * tool of the catalog. No server stands behind it: calls go to the provider of the tool.
 */
import { Effect, Result } from "effect"
import { makeAliasReader, ToolboxChanges, ToolboxList } from "../../../../domain/mcp/Toolbox.ts"
import { guessOf } from "../../../../domain/shared/NearestName.ts"
import { API_VERSION, BaseUrl, pageUrl } from "../../contract/BaseUrl.ts"
import { PRODUCT_NAME } from "../../contract/SampleValues.ts"
import { type Consumer, type Door, type DoorRequest, listClient } from "../Door.ts"
import type { DoorPath } from "../DoorRoutes.ts"
import { invalidParams, methodNotFound, type RpcFault } from "../RpcReply.ts"
import { LIST_CHANGED, makeSubscriptions, subscription } from "../Subscriptions.ts"
import { isMarketTool, MARKET_TOOLS, type MarketTool, marketToolTexts } from "./MarketToolList.ts"
import { makeOwnTools } from "./OwnTools.ts"

// Messages of the market door that belong to no request: the toolbox, a tool or a price in it has changed. They are
// sent in `subscriptions/listen`, or in the GET stream of a session.

export const makeMarketMessages = Effect.map(ToolboxChanges, ({ watch }) => {
  /** Until it is interrupted. */
  const changes = ({ keyId, ownerId }: Consumer, onChange: () => void): Effect.Effect<never> =>
    Effect.scoped(Effect.andThen(watch(ownerId, keyId, onChange), Effect.never))

  return {
    subscription: (request: DoorRequest, limitMs: number) =>
      subscription(request, limitMs, (onChange) => changes(request.caller, onChange)),
    listen: (caller: Consumer, send: (message: string) => void) => changes(caller, () => send(LIST_CHANGED))
  }
})

const CAPABILITIES = '{"tools":{"listChanged":true}}'

const instructions = (baseUrl: string): string =>
  "A market of tools of many providers, paid per call from one balance. The listed tools besides search_tools, " +
  "describe_tool, call_tool, quote and balance are those that the account has chosen or used; each description ends with " +
  "its price. For anything else, find a tool with search_tools, read describe_tool, and call it with call_tool. Every " +
  "call returns what it cost; a rejected call costs nothing. If the balance is too low, ask the user to add funds at " +
  `${pageUrl(baseUrl, "/developer/funds")}.`

const NAME_CHARS_SHOWN_MAX = 128

const unknownTool = (name: string, nearest: ReadonlyArray<string>): RpcFault => {
  const isQualified = nearest.some((one) => one.includes("/"))
  const then = isQualified ? "Call it with call_tool. Find tools with search_tools." : "Find tools with search_tools."
  return invalidParams(
    `There is no tool \`${name.slice(0, NAME_CHARS_SHOWN_MAX)}\`.${guessOf(nearest)} ${then}`,
    nearest.length === 0 ? undefined : { nearest }
  )
}

const marketDoor = Effect.gen(function* () {
  const list = yield* ToolboxList
  const readAlias = yield* makeAliasReader
  const own = yield* makeOwnTools
  const subscribed = yield* makeSubscriptions
  const { listen, subscription } = yield* makeMarketMessages
  const baseUrl = yield* BaseUrl

  const profile = {
    serverInfo: JSON.stringify({ name: "agent-tool-billing", title: PRODUCT_NAME, version: API_VERSION }),
    instructions: JSON.stringify(instructions(baseUrl))
  }

  const door: Door = {
    callTool: "call_tool" satisfies MarketTool,
    featuresOff: [],

    // For the tools whose provider's servers run calls as tasks.
    profile: ({ dialect }) => Effect.succeed({ ...profile, capabilities: dialect.withTasks(CAPABILITIES) }),

    tools: Effect.fnUntraced(function* (request, cursor) {
      const { caller, input } = request
      if (cursor !== undefined)
        return yield* invalidParams("`cursor` belongs to no page of this list: it has one page.")
      const isDescribed = new URLSearchParams(input.request.query).get("prices") !== "off"
      const chosen = yield* list.read(listClient(request), caller.ownerId, caller.keyId, isDescribed)
      return { tools: `[${[...marketToolTexts, ...chosen].join(",")}]`, nextCursor: undefined }
    }),

    tool: Effect.fnUntraced(function* ({ caller }, name, given, maxCost) {
      if (isMarketTool(name)) return yield* own[name](caller, given, maxCost)
      const read = yield* readAlias(name, caller, MARKET_TOOLS)
      if (Result.isFailure(read)) return yield* unknownTool(name, read.failure)
      const tool = { toolId: read.success, toolName: undefined, providerId: undefined }
      return { _tag: "Billed" as const, tool, arguments: given }
    }),

    listen,

    pass: (request) => {
      const { method } = request.rpc
      if (method !== "subscriptions/listen") {
        return Effect.fail(methodNotFound(`Method \`${method}\` does not exist here: the market offers tools only.`))
      }
      return subscribed(request, (limitMs) => subscription(request, limitMs))
    }
  }
  return door
})

export const marketDoorPath = Effect.map(marketDoor, (door): DoorPath => ({
  path: "/mcp",
  summary: "Tools that find and call any tool, and those of your toolbox: for MCP clients, with a consumer's key",
  doorOf: () => Effect.succeed(door)
}))
