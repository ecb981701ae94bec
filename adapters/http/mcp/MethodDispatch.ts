/**
 * Answers a request of either era at a door: the methods about tools here, everything else by the door.
 */
import { Effect } from "effect"
import { type ServerFeature, turnedOff } from "../../../domain/accounts/Account.ts"
import { isNeverPassed } from "../../../domain/mcp/PassThrough.ts"
import { withoutOwn } from "../../../domain/mcp/PassedResults.ts"
import type { McpEra } from "../../../domain/upstream/Protocol.ts"
import { declaresTasks, isTaskMethod } from "../../../domain/upstream/TaskSupport.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { EncodedReply } from "../pipeline/Route.ts"
import type { Door, DoorAnswer, DoorFailure, DoorRequest, ToolList } from "./Door.ts"
import { modernResult } from "./ModernEra.ts"
import { invalidParams, methodNotFound, RpcFault } from "./RpcFault.ts"
import { isObject } from "./RpcMessage.ts"
import { faultReply, replyOf } from "./RpcReply.ts"
import { makeTaskMethods, missingTasks } from "./TaskMethods.ts"
import { type CalledTool, makeToolCalls } from "./ToolCalls.ts"

export type Dispatch = (door: Door, request: DoorRequest) => Effect.Effect<EncodedReply, HandlerError>

export const makeDispatch = Effect.gen(function* () {
  const callTool = yield* makeToolCalls
  const tasks = yield* makeTaskMethods

  const called = (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure | HandlerError> => {
    if (isTaskMethod(request.rpc.method)) return tasks(door, request)
    switch (request.rpc.method) {
      case "tools/call":
        return callTool(door, request)
      case "tools/list":
        return Effect.map(listed(door, request), (page) => asResult(listResult(page, request.era)))
      default:
        return Effect.map(passed(door, request), (answer) => ({ answer, headers: {} }))
    }
  }

  const dispatch: Dispatch = (door, request) => {
    const { id, method } = request.rpc
    return Effect.matchEffect(called(door, request), {
      onFailure: (error) =>
        error instanceof RpcFault ? Effect.succeed(faultReply(error, id)) : Effect.fail<HandlerError>(error),
      onSuccess: ({ answer, headers }) => {
        if (answer._tag === "Error") return Effect.succeed(replyOf(id, answer, headers))
        const isWhole = request.era === "legacy" || method === "tools/list"
        const result = isWhole ? answer.result : modernResult(method, answer.result)
        const reply = replyOf(id, { ...answer, result }, headers)
        answer.release?.()
        return Effect.succeed(reply)
      }
    })
  }
  return dispatch
})

const passed = (door: Door, request: DoorRequest): Effect.Effect<DoorAnswer, DoorFailure> => {
  if (isNeverPassed(request.rpc.method)) return Effect.fail(methodNotFound(NEVER_PASSED))
  if (wantsTasks(request) && !declaresTasks(request.capabilities)) return Effect.fail(missingTasks)
  const off = turnedOff(door.featuresOff, request.rpc)
  return off === undefined ? door.pass(request) : Effect.fail(methodNotFound(turnedOffText(off)))
}

/** A subscription to the states of tasks. */
const wantsTasks = ({ rpc: { method, params } }: DoorRequest): boolean => {
  const notifications = method === "subscriptions/listen" ? params?.value["notifications"] : undefined
  return isObject(notifications) && notifications["taskIds"] !== undefined
}

const turnedOffText = (feature: ServerFeature): string => `The provider of this server has turned off ${feature}.`

const NEVER_PASSED = "This method is not passed to providers' servers as a request."

const asResult = (result: string): CalledTool => ({ answer: { _tag: "Result", result }, headers: {} })

/** Prices and the provider's tools may change. */
const LIST_TTL_MS = 60_000

/** Written whole, with what a modern result has: the list may be long. */
const listResult = ({ meta, nextCursor, tools }: ToolList, era: McpEra): string => {
  const cursor = nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`
  const own = meta === undefined ? "" : `,"_meta":${withoutOwn(meta)}`
  return era === "legacy"
    ? `{"tools":${tools}${cursor}${own}}`
    : `{"resultType":"complete","tools":${tools}${cursor}${own},"ttlMs":${LIST_TTL_MS},"cacheScope":"private"}`
}

const listed = (door: Door, request: DoorRequest): Effect.Effect<ToolList, DoorFailure> => {
  const cursor = request.rpc.params?.value["cursor"]
  return cursor === undefined || typeof cursor === "string"
    ? door.tools(request, cursor)
    : Effect.fail(invalidParams("`cursor` must be a string, the `nextCursor` of the page before."))
}
