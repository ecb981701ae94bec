/**
 * `tools/call`: the same call as through the REST proxy, for callers that speak MCP. It is held, forwarded, settled and
 * limited by `McpCalls`; here it is only translated.
 */
import { Clock, Effect, Schema } from "effect"
import { idempotencyScope, Levels } from "../../../domain/accounts/Levels.ts"
import { McpCalls } from "../../../domain/mcp/McpCalls.ts"
import type { McpCallOutcome, McpCallRequest } from "../../../domain/metering/Call.ts"
import { CallInFlight } from "../../../domain/metering/CallRejections.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { LevelId, type ReceiptId } from "../../../domain/shared/Ids.ts"
import { isObject } from "../../../domain/shared/JsonText.ts"
import { lowestOf, Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { Tasks } from "../../../domain/tasks/Tasks.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  IDEMPOTENCY_KEY_META,
  MAX_COST_META,
  META_PREFIX,
  RUN_ID_META,
  VERSION_META,
  withoutTasks
} from "../../../domain/upstream/Protocol.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import { callCap } from "../pipeline/WebRequest.ts"
import { addFundsPage, answerOf, callResult, refusalOf, refusalResult } from "./CallResults.ts"
import {
  type Door,
  type DoorDialect,
  type DoorFailure,
  type DoorRequest,
  passing,
  type TaskCall,
  type ToolArguments
} from "./Door.ts"
import {
  type DoorAnswer,
  invalidParams,
  methodNotFound,
  picked,
  resultAnswer,
  RpcFault,
  type RpcObject,
  type RpcRequest,
  textAt
} from "./RpcMessages.ts"

/** The params of `tools/call`: the tool, its arguments, what the caller agrees to pay, and what is passed on. */
export interface ToolCallParams {
  readonly name: string
  readonly arguments: ToolArguments
  readonly maxCost: Microcents | undefined
  readonly idempotencyKey: string | undefined
  /** The run that the call counts toward. */
  readonly runId: LevelId | undefined
  /** An object without the fields of this service and of the protocol. */
  readonly meta: string | undefined
  readonly otherParams: string | undefined
  readonly progressToken: string | undefined
  /** The client wants a task. Otherwise the server may decide on one. */
  readonly wantsTask: boolean
}

const readToolCall = ({ meta, params }: RpcRequest, dialect: DoorDialect): ToolCallParams | RpcFault => {
  const name = params?.value["name"]
  if (typeof name !== "string") return invalidParams("`name` is required, the name of a tool.")
  const given = params?.value["arguments"]
  if (given !== undefined && !isObject(given)) return invalidParams("`arguments` must be an object.")
  const maxCost = maxCostIn(meta)
  if (maxCost === "invalid") {
    return invalidParams(`\`_meta["${MAX_COST_META}"]\` must be an integer between 0 and ${MICROCENTS_MAX}.`)
  }
  const idempotencyKey = keyIn(meta)
  if (idempotencyKey === "") {
    return invalidParams(
      `\`_meta["${IDEMPOTENCY_KEY_META}"]\` must be a string of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters.`
    )
  }
  const runId = meta?.value[RUN_ID_META]
  if (runId !== undefined && !isLevelId(runId)) {
    return invalidParams(`\`_meta["${RUN_ID_META}"]\` must be the ID of a run.`)
  }
  const wantsTask = dialect.wantsTask(params)
  if (typeof wantsTask !== "boolean") return wantsTask
  const passedMeta = picked(meta, isPassed)
  return {
    name,
    arguments: { text: textAt(params, "arguments") ?? "{}", value: given ?? {} },
    maxCost,
    idempotencyKey,
    runId,
    meta: passedMeta === undefined ? undefined : `{${passedMeta}}`,
    otherParams: picked(params, (member) => !OWN_PARAMS.has(member)),
    progressToken: textAt(meta, "progressToken"),
    wantsTask
  }
}

const isLevelId = Schema.is(LevelId)

const OWN_PARAMS: ReadonlySet<string> = new Set(["name", "arguments", "task", "_meta"])

const PROTOCOL: ReadonlySet<string> = new Set([
  "progressToken",
  VERSION_META,
  CLIENT_INFO_META,
  CLIENT_CAPABILITIES_META
])

/** `market/…` is how this service tells a provider the caller's cap: a caller must not write it. */
const isPassed = (name: string): boolean =>
  !PROTOCOL.has(name) && !name.startsWith(`${META_PREFIX}/`) && !name.startsWith("market/")

const maxCostIn = (meta: RpcObject | undefined): Microcents | undefined | "invalid" => {
  const value = meta?.value[MAX_COST_META]
  if (value === undefined) return undefined
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? Microcents.make(BigInt(value))
    : "invalid"
}

/** Empty if it is invalid. */
const keyIn = (meta: RpcObject | undefined): string | undefined => {
  const value = meta?.value[IDEMPOTENCY_KEY_META]
  if (value === undefined) return undefined
  return typeof value === "string" && value.length <= IDEMPOTENCY_KEY_CHARS_MAX ? value : ""
}

export interface CalledTool {
  readonly answer: DoorAnswer
  readonly headers: Readonly<Record<string, string>>
}

type Billed = Extract<Effect.Success<ReturnType<Door["tool"]>>, { readonly _tag: "Billed" }>

export const makeToolCalls = Effect.gen(function* () {
  const mcpCalls = yield* McpCalls
  const baseUrl = yield* BaseUrl
  const addFundsUrl = addFundsPage(baseUrl)
  const tasks = yield* Tasks
  const levels = yield* Levels
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
      levels: caller.levels,
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : {
              keyHash: sha256Hex(`${idempotencyScope(caller)}\n${idempotencyKey}`),
              requestHash: sha256Hex(JSON.stringify(["mcp", tool.toolId, tool.providerId, tool.toolName, given.text]))
            },
      requestId: input.requestId,
      onReceiptId: (invocationId: ReceiptId) => {
        notes.invocation_id = invocationId
      },
      onHeld: () => clock.restart(totalMs),
      onWait: clock.restart,
      addFundsUrl,
      registerDisconnect: clock.registerDisconnect,
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
        inSession: request.clientSession !== undefined,
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
    Effect.flatMapEager(request.dialect.taskCall(door, request, meaning.tool, params.wantsTask), (task) => {
      const call = callOf(door, request, params, meaning, task)
      const ended = mcpCalls.call(call, (report) => {
        // The provider has responded; the settlement follows.
        request.clock.restart(0)
        return callResult(report)
      })
      return unlessTask(call, ended)
    })

  const refused = Effect.fnUntraced(function* (
    { callTool }: Door,
    { dialect }: DoorRequest,
    error: HandlerError
  ): Effect.fn.Return<CalledTool, HandlerError | RpcFault> {
    if (error._tag === "StoreUnavailable" || error._tag === "SignerUnavailable") return yield* error
    if (isOfRequest(error)) {
      const nearest = error._tag === "ToolNotFound" ? (error.nearest ?? []) : []
      return yield* invalidParams(error.message, nearest.length === 0 ? undefined : { nearest })
    }
    const refusal = refusalOf(error, { baseUrl, callTool }, yield* Clock.currentTimeMillis)
    return { answer: resultAnswer(refusalResult(refusal, dialect.structuredErrors)), headers: {} }
  })

  return Effect.fnUntraced(function* (
    door: Door,
    sent: DoorRequest
  ): Effect.fn.Return<CalledTool, DoorFailure | HandlerError> {
    const read = readToolCall(sent.rpc, sent.dialect)
    if (read instanceof RpcFault) return yield* read
    const params = { ...read, maxCost: yield* callCap(sent.input.request, read.maxCost) }
    const { caller } = sent
    const named =
      read.runId === undefined
        ? undefined
        : yield* Effect.catchTag(levels.asRun(caller, read.runId), "RunNotFound", ({ message }) =>
            invalidParams(message)
          )
    const request = named === undefined ? sent : { ...sent, caller: { ...caller, levels: named } }
    const meaning = yield* door.tool(request, params.name, params.arguments, params.maxCost)
    if (meaning._tag === "Own") {
      if (params.wantsTask) return yield* methodNotFound(notAsTask(params.name))
      return { answer: resultAnswer(meaning.result), headers: {} }
    }
    return yield* Effect.matchEffect(called(door, request, params, meaning), {
      onFailure: (error) => (error instanceof RpcFault ? Effect.fail(error) : refused(door, request, error)),
      onSuccess: (outcome) => Effect.succeed(calledTool(outcome, request.dialect))
    })
  })
})

/** The request names no tool, or continues no call: there is nothing that a model could do about a result. */
const isOfRequest = (error: HandlerError): boolean =>
  error._tag === "ToolNotFound" || error._tag === "ToolWithdrawn" || error._tag === "RequestStateRejected"

const isInFlight = (failure: unknown): boolean => failure instanceof CallInFlight

const calledTool = (outcome: McpCallOutcome, dialect: DoorDialect): CalledTool => {
  switch (outcome._tag) {
    case "InputRequired":
      return {
        answer: resultAnswer(outcome.resultText),
        headers: outcome.receiptId === undefined ? {} : { "x-market-receipt": outcome.receiptId }
      }
    case "TaskStarted":
      return {
        answer: resultAnswer(dialect.started(outcome.resultText)),
        headers: { "x-market-receipt": outcome.receiptId }
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

export const notAsTask = (name: string): string =>
  `The tool \`${name}\` does not run as a task. Call it without \`task\`.`
