/**
 * MCP over HTTP, which this service speaks as the client of providers' servers and as the server of agents. The
 * protocol has two eras. Modern (2026-07-28): stateless; every request carries its version and its client. Legacy
 * (2025-11-25 and before): a handshake that negotiates the version, and optionally a session.
 */
import { isObject, memberOf, membersOf, objectWith } from "../shared/JsonText.ts"

/** A session at the provider's server that belongs to one session of a client. */
export interface UpstreamSession {
  readonly version: string
  /** Undefined where the server assigns none. */
  readonly sessionId: string | undefined
}

export const MODERN_VERSION = "2026-07-28"
/** Those whose `initialize` opens a session, best first. Servers on old SDKs report 2024-11-05 over the newer transport. */
export const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/** Clients may choose one of these. The newest comes first. */
export const MCP_VERSIONS: ReadonlyArray<string> = [MODERN_VERSION, ...SESSION_VERSIONS]

/** Errors of JSON-RPC. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** Errors that only a modern server returns. */
export const HEADER_MISMATCH = -32020
export const MISSING_CAPABILITY = -32021
export const UNSUPPORTED_VERSION = -32022

/** The prefix of this service's names in `_meta`. */
export const META_PREFIX = "agent-tool-billing"
/** The price of a call, in `_meta` of each listed tool. */
export const PRICE_META = `${META_PREFIX}/price`
/** The tool that an alias stands for, in `_meta` of each tool that the market door lists. */
export const TOOL_META = `${META_PREFIX}/tool`
/** The cost of the call, in `_meta` of its result. */
export const BILLING_META = `${META_PREFIX}/billing`
/** The caller's cap, in `_meta` of a call. */
export const MAX_COST_META = `${META_PREFIX}/max_cost_microcents`
/** The key in `_meta` of a call: repeated with the same key and arguments, it is the same call. */
export const RUN_ID_META = `${META_PREFIX}/run_id`
export const IDEMPOTENCY_KEY_META = `${META_PREFIX}/idempotency_key`
/** The actual cost of a usage-priced call, in `_meta` of a provider's result. */
export const REPORTED_COST_META = `${META_PREFIX}/cost_microcents`

/** The task that gave a result, in `_meta` of one that was requested separately. */
export const RELATED_TASK_META = "io.modelcontextprotocol/related-task"

/** The version, in `_meta` of every modern request. */
export const VERSION_META = "io.modelcontextprotocol/protocolVersion"
export const CLIENT_INFO_META = "io.modelcontextprotocol/clientInfo"
export const CLIENT_CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
/** The server, in `_meta` of a modern result. */
export const SERVER_INFO_META = "io.modelcontextprotocol/serverInfo"
/** The subscription, in `_meta` of each of its messages. */
export const SUBSCRIPTION_META = "io.modelcontextprotocol/subscriptionId"

// Both sides declare tasks. A server that starts a task answers a call at once, and delivers its result to later
// requests that name the task. The server decides which call becomes a task, or, in a session, the client.

/** The member of `extensions` in the capabilities. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks"

/** `tasks` of a session's capabilities: what the service declares, whichever of it the provider's server does. */
export const SESSION_TASKS = `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`

/** Tells whether it is one such as `tasks/get`. Some servers do not distinguish upper and lower case. */
export const isTaskMethod = (method: string): boolean => TASK.test(method)

const TASK = /^[^a-z]*tasks\//iu

/** Capabilities of a client or a server, as JSON: the extension. */
export const declaresTasks = (capabilities: string | undefined): boolean => {
  if (capabilities === undefined || !MAY_NAME_TASKS.test(capabilities)) return false
  const extensions = memberOf(capabilities, 0, "extensions")
  return extensions?.startsWith("{") === true && memberOf(extensions, 0, TASKS_EXTENSION)?.startsWith("{") === true
}

/** Capabilities of a server with sessions, as JSON: whether calls of tools can be tasks. */
export const declaresSessionTasks = (capabilities: string): boolean => {
  if (!MAY_NAME_TASKS.test(capabilities)) return false
  const { tasks } = JSON.parse(capabilities) as Declared
  return isObject(tasks?.requests?.tools?.call)
}

interface Declared {
  readonly tasks?: { readonly requests?: { readonly tools?: { readonly call?: unknown } | null } | null } | null
}

/** The same, as they are declared in a session of a client. */
export const withOwnTasks = (capabilities: string): string =>
  declaresSessionTasks(capabilities)
    ? objectWith(withoutTasks(capabilities), "tasks", SESSION_TASKS)
    : withoutTasks(capabilities)

/** Capabilities of a client or a server, as JSON. */
export const withoutTasks = (capabilities: string): string => {
  if (!MAY_NAME_TASKS.test(capabilities)) return capabilities
  const others = withoutSessionTasks(capabilities)
  const extensions = membersOf(others).findLast(({ name }) => name === "extensions")
  return extensions?.text.startsWith("{") === true
    ? objectWith(others, "extensions", objectWith(extensions.text, TASKS_EXTENSION, undefined))
    : others
}

/** Capabilities of a server without sessions, as JSON. */
export const withoutSessionTasks = (capabilities: string): string =>
  MAY_NAME_TASKS.test(capabilities) && membersOf(capabilities).some(({ name }) => name === "tasks")
    ? objectWith(capabilities, "tasks", undefined)
    : capabilities

/** The params of a client's `initialize`, as the server gets them: verbatim unless they declare tasks. */
export const passedParams = (params: string): string => {
  const declared = membersOf(params).filter(({ name, text }) => name === "capabilities" && text.startsWith("{"))
  if (declared.every(({ text }) => withoutTasks(text) === text)) return params
  return objectWith(params, "capabilities", withoutTasks(declared.at(-1)!.text))
}

/** A name may be written with escapes. */
const MAY_NAME_TASKS = /tasks|\\/u
