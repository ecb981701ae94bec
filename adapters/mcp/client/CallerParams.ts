/**
 * Params that a client wrote, as the provider's server gets them: verbatim except `_meta`, whose fields of the protocol and
 * of this service are written anew.
 */
import { randomUUID } from "node:crypto"
import { MAX_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import { type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  META_PREFIX,
  VERSION_META
} from "../../../domain/upstream/Protocol.ts"
import type { McpExchange } from "../../../domain/upstream/ToolUpstream.ts"
import type { Caller, Link } from "./Dialect.ts"

// The id of a request in a client's own session. The client sends other requests and cancellations there, so it must not
// choose or guess the id of a call: a server that got one id twice would answer the wrong request. Other nodes use the session
// too. Node draws the bytes of UUIDs in blocks: a draw per id would take longer than the rest of the message.

export const ownId = (prefix: string): string => `${prefix}.${randomUUID()}`

interface OwnFields {
  /** The service's, where each request has one. */
  readonly meta: ReadonlyArray<JsonMember>
  /** As the server gets it, as JSON. */
  readonly progressToken: string | undefined
  readonly maxCost?: bigint | undefined
}

/** `_meta` as JSON, or undefined if it would be empty. `given` is the client's. */
export const metaFor = (link: Link, caller: Caller, given: string | undefined, own: OwnFields): string | undefined => {
  const fields: Array<string> = []
  for (const { name, text } of given === undefined ? [] : membersOf(given)) {
    if (!isReserved(name)) fields.push(`${JSON.stringify(name)}:${text}`)
  }
  if (own.progressToken !== undefined) fields.push(`"progressToken":${own.progressToken}`)
  if (own.maxCost !== undefined) fields.push(`"${MAX_COST_FIELD}":${own.maxCost}`)
  fields.push(...link.dialect.callerMeta(own.meta, caller))
  return fields.length === 0 ? undefined : `{${fields.join(",")}}`
}

/** Params with another `_meta`. Every other member is verbatim. */
export const paramsWith = (
  params: string | undefined,
  metaOf: (given: string | undefined) => string | undefined
): string => {
  const members = params === undefined ? [] : membersOf(params)
  const meta = metaOf(members.findLast(({ name }) => name === "_meta")?.text)
  const others = members
    .filter(({ name }) => name !== "_meta")
    .map(({ name, text }) => `${JSON.stringify(name)}:${text}`)
  return `{${[...others, ...(meta === undefined ? [] : [`"_meta":${meta}`])].join(",")}}`
}

/** Other members of a call's params, each with a comma behind it. */
export const othersOf = ({ otherParams }: McpExchange): string =>
  otherParams === undefined
    ? ""
    : membersOf(`{${otherParams}}`)
        .filter(({ name }) => !ofTheCall.has(name.toLowerCase()))
        .map(({ name, text }) => `${JSON.stringify(name)}:${text},`)
        .join("")

/** Some servers do not distinguish upper and lower case. */
const ofTheCall = new Set(["name", "arguments", "task", "_meta"])

const written = new Set(
  ["progressToken", VERSION_META, CLIENT_INFO_META, CLIENT_CAPABILITIES_META].map((name) => name.toLowerCase())
)

/**
 * A client must not write what the provider believes to come from this service. Some servers do not distinguish upper and
 * lower case.
 */
const isReserved = (name: string): boolean => {
  const lower = name.toLowerCase()
  return written.has(lower) || lower.startsWith(`${META_PREFIX}/`) || lower.startsWith("market/")
}
