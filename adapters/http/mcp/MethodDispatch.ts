/**
 * Answers a request at a door: the methods about tools here, everything else by the door.
 */
import { Effect } from "effect"
import { type ServerFeature, turnedOff } from "../../../domain/accounts/Account.ts"
import { isNeverPassed } from "../../../domain/mcp/PassThrough.ts"
import { withoutOwn } from "../../../domain/mcp/PassedResults.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { declaresTasks, isTaskMethod } from "../../../domain/upstream/Protocol.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { Dispatch, Door, DoorFailure, DoorRequest, ToolList } from "./Door.ts"
import { type DoorAnswer, faultsReplied, invalidParams, methodNotFound, replyOf, resultAnswer } from "./RpcReply.ts"
import { missingTasks } from "./TaskMethods.ts"
import { type CalledTool, makeToolCalls } from "./ToolCalls.ts"

export const makeDispatch = Effect.gen(function* () {
  const callTool = yield* makeToolCalls

  const called = (door: Door, request: DoorRequest): Effect.Effect<CalledTool, DoorFailure | HandlerError> => {
    const { dialect, rpc } = request
    if (rpc.method === "tools/call") return callTool(door, request)
    const answered =
      rpc.method === "tools/list"
        ? Effect.map(listed(door, request), (page) => resultAnswer(dialect.listResult(page)))
        : isTaskMethod(rpc.method)
          ? dialect.tasks(door, request)
          : passed(door, request)
    return Effect.map(answered, (answer) => ({ answer, headers: {} }))
  }

  const dispatch: Dispatch = (door, request) => {
    const { id, method } = request.rpc
    const replied = Effect.map(called(door, request), ({ answer, headers }) => {
      if (answer._tag === "Error") return replyOf(id, answer, headers)
      const result = method === "tools/list" ? answer.result : request.dialect.result(method, answer.result)
      const reply = replyOf(id, { ...answer, result }, headers)
      answer.release?.()
      return reply
    })
    return faultsReplied(replied, id)
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
