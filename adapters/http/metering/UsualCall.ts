/**
 * The bodies of most calls, without their schema. The schema reads and copies every value of the arguments, which are JSON
 * already: for large ones that takes longer than the rest of the call. Whatever is unusual or wrong is left to the schema.
 */
import { Effect, Schema } from "effect"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import type { CallsApi } from "./CallsApi.ts"
import type { Decoding } from "../pipeline/Decoding.ts"
import { isObject } from "../pipeline/FaultSentences.ts"
import type { TypeOf } from "../pipeline/Route.ts"

type ProxyCall = TypeOf<(typeof CallsApi.endpoints.proxy)["~Payload"]>

const USUAL = new Map<string, (value: unknown) => boolean>([
  ["tool_id", Schema.is(ToolId)],
  ["tool_name", Schema.is(ToolNameSent)],
  ["provider_id", Schema.is(ProviderId)],
  ["input", isObject],
  ["arguments", isObject]
])

/** The decoded body, from parsed JSON. Undefined: the schema decides. */
export const usualCall = (body: unknown): ProxyCall | undefined => {
  if (!isObject(body)) return undefined
  for (const name of Object.keys(body)) if (USUAL.get(name)?.(body[name]) !== true) return undefined
  const isNamed = Object.hasOwn(body, "tool_id") || Object.hasOwn(body, "tool_name")
  const hasTwoInputs = Object.hasOwn(body, "input") && Object.hasOwn(body, "arguments")
  return isNamed && !hasTwoInputs ? (body as ProxyCall) : undefined
}

/** Objects of any JSON. */
const OPEN = ["input", "arguments", "metadata"] as const

/** Decodes usual calls here, and others by their schema, which does not see what their open objects contain. */
export const decodingUsual =
  (bySchema: Decoding["decodePayload"]): Decoding["decodePayload"] =>
  (body) => {
    const usual = usualCall(body)
    if (usual !== undefined) return Effect.succeed(usual)
    if (!isObject(body)) return bySchema(body)
    const open = OPEN.filter((name) => Object.hasOwn(body, name) && isObject(body[name]))
    const withEach = (valueOf: (name: string) => unknown) =>
      Object.fromEntries(open.map((name) => [name, valueOf(name)]))
    return Effect.map(bySchema({ ...body, ...withEach(() => ({})) }), (call) => ({
      ...(call as object),
      ...withEach((name) => body[name])
    }))
  }
