/**
 * Answers a request at a door: the methods about tools here, everything else by the door.
 */
import { Effect } from "effect"
import { type ServerFeature, turnedOff } from "../../../domain/accounts/Account.ts"
import { isNeverPassed } from "../../../domain/mcp/PassThrough.ts"
import { withoutOwn } from "../../../domain/mcp/PassedResults.ts"
import { declaresTasks, isTaskMethod } from "../../../domain/upstream/TaskSupport.ts"
import type { HandlerError } from "../pipeline/HandlerErrors.ts"
import type { CalledTool, Dispatch, Door, DoorFailure, DoorRequest, ToolList } from "./Door.ts"
import { isObject } from "./RpcMessage.ts"
import { type DoorAnswer, faultReply, invalidParams, methodNotFound, replyOf, RpcFault } from "./RpcReply.ts"
import { missingTasks } from "./TaskMethods.ts"
import { makeToolCalls } from "./ToolCalls.ts"

export const makeDispatch = Effect.gen(function* () {
  const callTool = yield* makeToolCalls

  const called = (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure | HandlerError> => {
    if (isTaskMethod(request.rpc.method)) return request.dialect.tasks(door, request)
    switch (request.rpc.method) {
      case "tools/call":
        return callTool(door, request)
      case "tools/list":
        return Effect.map(listed(door, request), (page) => asResult(request.dialect.listResult(page)))
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
        const result = method === "tools/list" ? answer.result : request.dialect.result(method, answer.result)
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

/** Of the result of `tools/list`. */
export const listMembers = ({ meta, nextCursor, tools }: ToolList): string => {
  const cursor = nextCursor === undefined ? "" : `,"nextCursor":${JSON.stringify(nextCursor)}`
  return `"tools":${tools}${cursor}${meta === undefined ? "" : `,"_meta":${withoutOwn(meta)}`}`
}

const listed = (door: Door, request: DoorRequest): Effect.Effect<ToolList, DoorFailure> => {
  const cursor = request.rpc.params?.value["cursor"]
  return cursor === undefined || typeof cursor === "string"
    ? door.tools(request, cursor)
    : Effect.fail(invalidParams("`cursor` must be a string, the `nextCursor` of the page before."))
}
