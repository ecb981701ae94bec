/**
 * Params that a client wrote, as the provider's server gets them: verbatim except `_meta`, whose fields of the protocol and
 * of this service are written anew.
 */
import { randomUUID } from "node:crypto"
import { MAX_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import { type JsonMember, membersOf } from "../../../domain/shared/JsonText.ts"
import { type McpEra, META_PREFIX } from "../../../domain/upstream/Protocol.ts"
import type { Link } from "./Dialect.ts"

// The id of a request in a client's own session. The client sends other requests and cancellations there, so it must not
// choose or guess the id of a call: a server that got one id twice would answer the wrong request. Other nodes use the session
// too. Node draws the bytes of UUIDs in blocks: a draw per id would take longer than the rest of the message.

export const ownId = (prefix: string): string => `${prefix}.${randomUUID()}`

/** A client, as its request describes it. Texts are JSON. */
export interface Caller {
  readonly era: McpEra
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
}

interface OwnFields {
  /** The service's `_meta` of a modern request. */
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
  if (link.era === "modern") {
    for (const { name, text } of own.meta) {
      const theirs =
        caller.era !== "modern" ? undefined : name === CLIENT_INFO ? caller.clientInfo : capabilitiesOf(name, caller)
      fields.push(`"${name}":${theirs ?? text}`)
    }
  }
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

const capabilitiesOf = (name: string, { capabilities }: Caller): string | undefined =>
  name === CLIENT_CAPABILITIES ? capabilities : undefined

const PROTOCOL = "io.modelcontextprotocol/"
const CLIENT_INFO = `${PROTOCOL}clientInfo`
const CLIENT_CAPABILITIES = `${PROTOCOL}clientCapabilities`
const written = new Set(
  ["progressToken", `${PROTOCOL}protocolVersion`, CLIENT_INFO, CLIENT_CAPABILITIES].map((name) => name.toLowerCase())
)

/**
 * A client must not write what the provider believes to come from this service. Some servers do not distinguish upper and
 * lower case.
 */
const isReserved = (name: string): boolean => {
  const lower = name.toLowerCase()
  return written.has(lower) || lower.startsWith(`${META_PREFIX}/`) || lower.startsWith("market/")
}
