/**
 * The params of `tools/call`: the tool, its arguments, what the caller agrees to pay, and what is passed on.
 */
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  IDEMPOTENCY_KEY_META,
  MAX_COST_META,
  type McpEra,
  META_PREFIX,
  VERSION_META
} from "../../../domain/upstream/Protocol.ts"
import { IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import type { ToolArguments } from "./Door.ts"
import { invalidParams, type RpcFault } from "./RpcFault.ts"
import { isObject, picked, type RpcObject, type RpcRequest, textAt } from "./RpcMessage.ts"

export interface ToolCallParams {
  readonly name: string
  readonly arguments: ToolArguments
  readonly maxCost: Microcents | undefined
  readonly idempotencyKey: string | undefined
  /** An object without the fields of this service and of the protocol. */
  readonly meta: string | undefined
  readonly otherParams: string | undefined
  readonly progressToken: string | undefined
  /** Of the legacy era: the client wants a task. In the modern one, the server decides. */
  readonly wantsTask: boolean
}

export const readToolCall = ({ meta, params }: RpcRequest, era: McpEra): ToolCallParams | RpcFault => {
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
  const task = era === "legacy" ? params?.value["task"] : undefined
  if (task !== undefined && !isTask(task)) {
    return invalidParams("`task` must be an object; its `ttl` is a number of milliseconds, at least 0.")
  }
  const passedMeta = picked(meta, isPassed)
  return {
    name,
    arguments: { text: textAt(params, "arguments") ?? "{}", value: given ?? {} },
    maxCost,
    idempotencyKey,
    meta: passedMeta === undefined ? undefined : `{${passedMeta}}`,
    otherParams: picked(params, (member) => !OWN_PARAMS.has(member)),
    progressToken: textAt(meta, "progressToken"),
    wantsTask: task !== undefined
  }
}

const OWN_PARAMS: ReadonlySet<string> = new Set(["name", "arguments", "task", "_meta"])
/** The service itself decides how long a task may take, and its result is kept. */
const isTask = (task: unknown): boolean => {
  if (!isObject(task)) return false
  const { ttl } = task
  return ttl === undefined || (typeof ttl === "number" && ttl >= 0)
}

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
