/**
 * Whether a call runs as a task: in the modern era if its provider's server starts one, in the legacy era if its client wants
 * one. Nothing is held yet.
 */
import { Effect } from "effect"
import { ToolDirectory, type ToolReference } from "../../../domain/metering/ToolDirectory.ts"
import { makeTaskTools } from "../../../domain/tasks/TaskTools.ts"
import { declaresTasks } from "../../../domain/upstream/TaskSupport.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { Door, DoorRequest } from "./Door.ts"
import { methodNotFound, type RpcFault, serverFailed } from "./RpcFault.ts"

/** `started`: by the service, at a server of the legacy era. */
export type TaskCall = "none" | "taken" | "started"

export const makeTaskCalls = Effect.gen(function* () {
  const directory = yield* ToolDirectory
  const useOf = yield* makeTaskTools

  const wanted = Effect.fnUntraced(function* (
    door: Door,
    reference: ToolReference
  ): Effect.fn.Return<TaskCall, RpcFault | HandlerError> {
    const { provider, tool } = yield* directory.find(reference)
    const use = yield* Effect.catchTag(
      useOf({ providerId: provider.id, endpointUrl: provider.endpointUrl }, tool.toolName),
      "ServerFailed",
      ({ message, problem }) => Effect.fail(serverFailed(message, { problem: problem.kind }))
    )
    // A server that declares no tasks ignores the param. The door of the market declares them for the servers that do.
    if (use === "none" && door.server !== undefined) return "none"
    return use === "none" || use === "forbidden" ? yield* methodNotFound(notAsTask(tool.toolName)) : "started"
  })

  return (
    door: Door,
    { capabilities, era }: DoorRequest,
    tool: ToolReference,
    wantsTask: boolean
  ): Effect.Effect<TaskCall, RpcFault | HandlerError> => {
    if (era === "modern") return Effect.succeed(declaresTasks(capabilities) ? "taken" : "none")
    return wantsTask ? wanted(door, tool) : Effect.succeed("none")
  }
})

export const notAsTask = (name: string): string =>
  `The tool \`${name}\` does not run as a task. Call it without \`task\`.`
