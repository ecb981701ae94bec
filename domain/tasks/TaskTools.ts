/**
 * Which tools run as tasks of the legacy era: those of servers that declare such tasks, each by its own definition.
 */
import { Effect } from "effect"
import { ProviderServers, type ServerAddress, type ServerFailed } from "../upstream/ProviderServers.ts"
import { declaresLegacyTasks } from "../upstream/TaskSupport.ts"
import { ToolOffers } from "../mcp/ToolOffers.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** `none`: the server takes no calls as tasks. The others are the protocol's own. */
export type TaskUse = "none" | "forbidden" | "optional" | "required"

export const makeTaskTools = Effect.gen(function* () {
  const servers = yield* ProviderServers
  const offers = yield* ToolOffers

  return Effect.fnUntraced(function* (
    server: ServerAddress,
    toolName: string
  ): Effect.fn.Return<TaskUse, ServerFailed | StoreUnavailable> {
    const { capabilities, era } = yield* servers.profile(server)
    if (era === "modern" || !declaresLegacyTasks(capabilities)) return "none"
    const { tools } = yield* offers.offer(server)
    const execution: unknown = tools.get(toolName)?.listed.definition["execution"]
    const use = (execution as { readonly taskSupport?: unknown } | null | undefined)?.taskSupport
    return use === "optional" || use === "required" ? use : "forbidden"
  })
})
