/**
 * `tools/call`: the same call as through the REST proxy, for callers that speak MCP. It is held, forwarded, settled and
 * limited by `Metering`; here it is only translated.
 */
import { Clock, Effect } from "effect"
import type { McpCallOutcome, McpCallRequest } from "../../../domain/metering/Call.ts"
import { CallInFlight } from "../../../domain/metering/CallRejections.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { Metering } from "../../../domain/metering/Metering.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { lowestOf } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { legacyCreated } from "../../../domain/tasks/LegacyTasks.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import type { McpEra } from "../../../domain/upstream/Protocol.ts"
import { withoutTasks } from "../../../domain/upstream/TaskSupport.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import type { HandlerError } from "../pipeline/HandlerErrors.ts"
import { callCap } from "../pipeline/WebRequest.ts"
import { addFundsPage, refusalOf, refusalResult } from "./CallRefusals.ts"
import { answerOf, callResult } from "./CallResults.ts"
import type { Door, DoorAnswer, DoorFailure, DoorRequest } from "./Door.ts"
import { passing } from "./PassedMessages.ts"
import { invalidParams, methodNotFound, RpcFault } from "./RpcFault.ts"
import { makeTaskCalls, notAsTask, type TaskCall } from "./TaskCalls.ts"
import { readToolCall, type ToolCallParams } from "./ToolCallParams.ts"

type Headers = Readonly<Record<string, string>>

export interface CalledTool {
  readonly answer: DoorAnswer
  readonly headers: Headers
}

type Billed = Extract<Effect.Success<ReturnType<Door["tool"]>>, { readonly _tag: "Billed" }>

export const makeToolCalls = Effect.gen(function* () {
  const metering = yield* Metering
  const baseUrl = yield* BaseUrl
  const addFundsUrl = addFundsPage(baseUrl)
  const tasks = yield* Tasks
  const taskOf = yield* makeTaskCalls
  const { totalMs } = yield* UpstreamLimits
  const { sha256Hex } = yield* Digest

  const callOf = (
    door: Door,
    request: DoorRequest,
    params: ToolCallParams,
    meaning: Billed,
    task: TaskCall
  ): McpCallRequest => {
    const { arguments: given, tool } = meaning
    const idempotencyKey = meaning.idempotencyKey ?? params.idempotencyKey
    const { caller, clock, input } = request
    const { notes } = input
    return {
      consumerId: caller.ownerId,
      tool,
      arguments: given.value,
      maxCost: lowestOf(params.maxCost, meaning.maxCost),
      defaultCap: caller.defaultCap,
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : {
              keyHash: sha256Hex(`${caller.ownerId}\n${idempotencyKey}`),
              requestHash: sha256Hex(JSON.stringify(["mcp", tool.toolId, tool.providerId, tool.toolName, given.text]))
            },
      requestId: input.requestId,
      onNamed: (invocationId: ReceiptId) => {
        notes.invocation_id = invocationId
      },
      onHeld: () => clock.restart(totalMs),
      onWait: clock.restart,
      addFundsUrl,
      provideLeave: clock.provideLeave,
      takeTask: task === "none" ? undefined : tasks.take,
      exchange: {
        arguments: given.text,
        meta: params.meta,
        otherParams: params.otherParams,
        asTask: task === "started",
        capabilities:
          request.capabilities === undefined || task === "taken"
            ? request.capabilities
            : withoutTasks(request.capabilities),
        clientInfo: request.clientInfo,
        era: request.era,
        session: task === "started" ? undefined : request.session,
        clientSession: request.clientSession,
        renewSession: request.renewSession,
        requestId: request.rpc.id,
        progressToken: params.progressToken,
        onMessage: passing(door, request.onMessage)
      }
    }
  }

  /** A call that started a task and is repeated with its key gets its task again, also while the task runs. */
  const unlessTask = <E>(
    { consumerId, idempotency, takeTask }: McpCallRequest,
    called: Effect.Effect<McpCallOutcome, E>
  ): Effect.Effect<McpCallOutcome, E | StoreUnavailable> => {
    if (idempotency === undefined || takeTask === undefined) return called
    const orElse = (call: Effect.Effect<McpCallOutcome, E | StoreUnavailable>) =>
      Effect.flatMap(tasks.earlier(consumerId, idempotency), (task) =>
        task === undefined ? call : Effect.succeed(task)
      )
    return orElse(Effect.catchIf(called, isInFlight, (inFlight) => orElse(Effect.fail(inFlight as E))))
  }

  const called = (
    door: Door,
    request: DoorRequest,
    params: ToolCallParams,
    meaning: Billed
  ): Effect.Effect<McpCallOutcome, RpcFault | HandlerError> =>
    Effect.flatMapEager(taskOf(door, request, meaning.tool, params.wantsTask), (task) => {
      const call = callOf(door, request, params, meaning, task)
      const ended = metering.callMcp(call, (report) => {
        // The provider has responded; the settlement follows.
        request.clock.restart(0)
        return callResult(report)
      })
      return unlessTask(call, ended)
    })

  const refused = Effect.fnUntraced(function* (
    { callTool }: Door,
    { era }: DoorRequest,
    error: HandlerError
  ): Effect.fn.Return<CalledTool, HandlerError | RpcFault> {
    if (error._tag === "StoreUnavailable" || error._tag === "SignerUnavailable") return yield* error
    if (isOfRequest(error)) {
      const nearest = error._tag === "ToolNotFound" ? (error.nearest ?? []) : []
      return yield* invalidParams(error.message, nearest.length === 0 ? undefined : { nearest })
    }
    const refusal = refusalOf(error, { baseUrl, callTool }, yield* Clock.currentTimeMillis)
    return {
      // Clients of the legacy era check `structuredContent` against the tool's output schema even in an error.
      answer: { _tag: "Result", result: refusalResult(refusal, era === "modern") },
      headers: {}
    }
  })

  return Effect.fnUntraced(function* (
    door: Door,
    request: DoorRequest
  ): Effect.fn.Return<CalledTool, DoorFailure | HandlerError> {
    const read = readToolCall(request.rpc, request.era)
    if (read instanceof RpcFault) return yield* read
    const params = { ...read, maxCost: yield* callCap(request.input.request, read.maxCost) }
    const meaning = yield* door.tool(request, params.name, params.arguments, params.maxCost)
    if (meaning._tag === "Own") {
      if (params.wantsTask) return yield* methodNotFound(notAsTask(params.name))
      return { answer: { _tag: "Result", result: meaning.result }, headers: {} }
    }
    return yield* Effect.matchEffect(called(door, request, params, meaning), {
      onFailure: (error) => (error instanceof RpcFault ? Effect.fail(error) : refused(door, request, error)),
      onSuccess: (outcome) => Effect.succeed(calledTool(outcome, request.era))
    })
  })
})

/** The request names no tool, or continues no call: there is nothing that a model could do about a result. */
const isOfRequest = (error: HandlerError): boolean =>
  error._tag === "ToolNotFound" || error._tag === "ToolWithdrawn" || error._tag === "RequestStateRejected"

const isInFlight = (failure: unknown): boolean => failure instanceof CallInFlight

const calledTool = (outcome: McpCallOutcome, era: McpEra): CalledTool => {
  switch (outcome._tag) {
    case "InputRequired":
      return {
        answer: { _tag: "Result", result: outcome.resultText },
        headers: outcome.receiptId === undefined ? {} : { "x-market-receipt": outcome.receiptId }
      }
    case "TaskStarted": {
      const result = era === "legacy" ? legacyCreated(outcome.resultText) : outcome.resultText
      return { answer: { _tag: "Result", result }, headers: { "x-market-receipt": outcome.receiptId } }
    }
    case "Settled":
      return { answer: answerOf(outcome.answer), headers: outcome.answer.headers }
    case "Replayed":
      return {
        answer: answerOf(outcome.answer),
        headers: { ...outcome.answer.headers, "idempotent-replay": "true" }
      }
  }
}
