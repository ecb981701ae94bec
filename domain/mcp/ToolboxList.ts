/**
 * The tools of a toolbox as the market door lists them: under their aliases, with their prices. A definition is the one that
 * the provider's server lists, verbatim, or the catalog's where the server cannot be read now.
 */
import { Context, DateTime, Duration, Effect, Fiber, Layer, Option } from "effect"
import { qualifiedName } from "../accounts/Handle.ts"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import type { JsonSchemaObject } from "../catalog/Tool.ts"
import { CallStore } from "../metering/CallStore.ts"
import type { ConsumerId, KeyId, ProviderId, ToolId } from "../shared/Ids.ts"
import { escapeHidden } from "../shared/PlainText.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { TOOL_META } from "../upstream/Protocol.ts"
import type { ListClient } from "../upstream/ProviderServers.ts"
import { withMembers, withMeta } from "./PassedResults.ts"
import { FREE_CALLS_LEFT, pricedTool, type ToolOffer } from "./ToolOffer.ts"
import { ToolOffers } from "./ToolOffers.ts"
import { type AliasedTool, Toolbox } from "./Toolbox.ts"

/** The limit for reading all servers of one list. A slower server is read in the background, and a later list shows its definitions. */
const SERVERS_WAIT = Duration.seconds(1)
const FREE_TOOLS_MAX = 1_000

export class ToolboxList extends Context.Service<
  ToolboxList,
  {
    /**
     * JSON texts of the tools, without those that their server lists to other clients only. `described`: with the price in
     * each description.
     */
    read(
      client: ListClient,
      consumerId: ConsumerId,
      keyId: KeyId,
      described: boolean
    ): Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/mcp/ToolboxList") {
  static readonly layer = Layer.effect(
    ToolboxList,
    Effect.gen(function* () {
      const toolbox = yield* Toolbox
      const offers = yield* ToolOffers
      const calls = yield* CallStore

      const offerOf = Effect.fnUntraced(function* (
        { endpointUrl, id }: CatalogEntry["provider"],
        client: ListClient | "any"
      ) {
        const reading = yield* Effect.forkDetach(Effect.option(offers.offer({ providerId: id, endpointUrl }, client)))
        const read = yield* Effect.timeoutOption(Fiber.join(reading), SERVERS_WAIT)
        return Option.getOrUndefined(Option.flatten(read)) ?? offers.latest(id, client)
      })

      /** `client`: who is listed the tools. */
      const offersOf = Effect.fnUntraced(function* (tools: ReadonlyArray<AliasedTool>, client: ListClient | "any") {
        const providers = new Map(tools.map(({ entry }) => [entry.provider.id, entry.provider]))
        const all = yield* Effect.forEach(
          providers.values(),
          (provider) => Effect.map(offerOf(provider, client), (offer) => [provider.id, offer] as const),
          { concurrency: "unbounded" }
        )
        return new Map<ProviderId, ToolOffer | undefined>(all)
      })

      const usedBy = (consumerId: ConsumerId) =>
        Effect.flatMap(DateTime.now, (now) =>
          Effect.map(
            calls.freeCallsByTool(consumerId, now, FREE_TOOLS_MAX),
            (all) => new Map(all.map(({ toolId, used }) => [toolId, used] as const))
          )
        )

      const read = Effect.fn("ToolboxList.read")(function* (
        client: ListClient,
        consumerId: ConsumerId,
        keyId: KeyId,
        described: boolean
      ) {
        const { tools: chosen } = yield* toolbox.listed(consumerId, keyId)
        if (chosen.length === 0) return []
        const known = yield* offersOf(chosen, client)
        // A tool that no client is listed stays: it is registered as unlisted, or will be withdrawn.
        const missing = chosen.filter((tool) => isListed(tool, known) === false)
        const others = yield* offersOf(missing, "any")
        const tools = chosen.filter((tool) => !(missing.includes(tool) && isListed(tool, others) === true))
        const hasFreeCalls = tools.some(({ entry }) => entry.freeTierCalls > 0)
        const used = hasFreeCalls ? yield* usedBy(consumerId) : NONE_USED
        return tools.map(({ alias, entry }) => {
          const listed = known.get(entry.provider.id)?.tools.get(entry.tool.toolName)?.listed.text
          const left = Math.max(0, entry.freeTierCalls - (used.get(entry.tool.id) ?? 0))
          return pricedTool(named(listed ?? catalogDefinition(entry), alias, entry), entry, described).replace(
            FREE_CALLS_LEFT,
            String(left)
          )
        })
      })

      return ToolboxList.of({ read })
    })
  )
}

/** Undefined where the server could not be read. */
const isListed = (
  { entry: { provider, tool } }: AliasedTool,
  offers: ReadonlyMap<ProviderId, ToolOffer | undefined>
): boolean | undefined => offers.get(provider.id)?.tools.has(tool.toolName)

const NONE_USED: ReadonlyMap<ToolId, number> = new Map()

const named = (definition: string, alias: string, { provider, tool }: CatalogEntry): string =>
  withMeta(withMembers(definition, { name: JSON.stringify(alias) }), {
    [TOOL_META]: JSON.stringify({
      tool: qualifiedName(provider.handle, tool.toolName),
      tool_id: tool.id,
      provider: provider.name
    })
  })

/** Clients reject definitions whose schemas are not of objects. */
const catalogDefinition = ({ tool }: CatalogEntry): string =>
  escapeHidden(
    JSON.stringify({
      name: tool.toolName,
      title: tool.displayName,
      ...(tool.description === "" ? {} : { description: tool.description }),
      inputSchema: isOfObjects(tool.inputSchema) ? tool.inputSchema : { type: "object" },
      ...(isOfObjects(tool.outputSchema) ? { outputSchema: tool.outputSchema } : {})
    })
  )

const isOfObjects = (schema: JsonSchemaObject | undefined): boolean => schema?.["type"] === "object"
