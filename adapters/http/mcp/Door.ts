/**
 * An MCP endpoint: the path of a provider's server, or of the market. The frame (`DoorRoutes.ts`) reads requests, calls tools
 * and writes responses. A door defines what it offers, what a tool's name means, and how all other requests are answered.
 */
import type { Effect } from "effect"
import { isOfFeatures, type ServerFeature } from "../../../domain/accounts/Account.ts"
import type { Principal } from "../../../domain/accounts/Authentication.ts"
import type { HeaderParameter } from "../../../domain/mcp/HeaderParameters.ts"
import type { ToolReference } from "../../../domain/metering/ToolDirectory.ts"
import type { Microcents } from "../../../domain/shared/Microcents.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import type { UpstreamSession } from "../../../domain/upstream/Protocol.ts"
import {
  type ListClient,
  listingCapabilities,
  type ServerAddress,
  type ServerProfile
} from "../../../domain/upstream/ProviderServers.ts"
import type { HandlerError } from "../metering/CallProblems.ts"
import type { AnyInput, EncodedReply, RequestClock } from "../pipeline/Route.ts"
import type { WebRequest } from "../pipeline/WebRequest.ts"
import type { DoorAnswer, RpcBatch, RpcFault, RpcMessage, RpcObject, RpcRequest } from "./RpcMessages.ts"

export type Consumer = Extract<Principal, { readonly role: "consumer" }>

/** A request of a client, whose dialect and session are known. */
export interface DoorRequest {
  readonly rpc: RpcRequest
  readonly dialect: DoorDialect
  /** The client's capabilities as JSON. A session has only those by which servers choose the tools that they list. */
  readonly capabilities: string | undefined
  readonly clientInfo: string | undefined
  /** The client's own session at the provider's server. */
  readonly session: UpstreamSession | undefined
  /** The client's own session here; undefined: each of its requests stands alone. */
  readonly clientSession?: string | undefined
  /** Replaces a session that the server no longer knows; undefined if the client must initialize again. */
  readonly renewSession?: Effect.Effect<UpstreamSession | undefined, StoreUnavailable> | undefined
  readonly caller: Consumer
  readonly input: AnyInput
  /** The request may be one of a batch. */
  readonly clock: RequestClock
  /** Messages that come before the response. A client that takes no stream gets none. */
  readonly onMessage: (message: string) => void
}

/** Tools are listed for this client: a server learns its capabilities in a session of its own, or with each request. */
export const listClient = ({ capabilities, clientSession, session }: DoorRequest): ListClient => ({
  inSession: session !== undefined,
  capabilities: listingCapabilities(clientSession === undefined || session !== undefined ? capabilities : undefined)
})

/** `started`: by the service, at a server with sessions. */
export type TaskCall = "none" | "taken" | "started"

/** Versions of the protocol that are not compatible differ in this. It is chosen once for each request. */
export interface DoorDialect {
  /** The result of a server, as the client gets it. */
  result(method: string, result: string): string
  /** The result of `tools/list`, written whole: the list may be long. */
  listResult(list: ToolList): string
  /** Adds `structuredContent` to rejected calls; some clients check it against the tool's output schema even then. */
  readonly structuredErrors: boolean
  /** The capabilities of a provider's server, as they are declared to the client. */
  offered(profile: ServerProfile): string
  /** Capabilities of the service, with calls that run as tasks. */
  withTasks(capabilities: string): string
  /** Checks headers that repeat arguments; undefined where there are none. */
  readonly parametersFault:
    | ((
        request: WebRequest,
        id: string,
        parameters: ReadonlyArray<HeaderParameter>,
        args: Readonly<Record<string, unknown>>
      ) => RpcFault | undefined)
    | undefined
  wantsTask(params: RpcObject | undefined): boolean | RpcFault
  /** Nothing is held yet. */
  taskCall(
    door: Door,
    request: DoorRequest,
    tool: ToolReference,
    wantsTask: boolean
  ): Effect.Effect<TaskCall, RpcFault | HandlerError>
  /** The result of a call that started a task. */
  started(resultText: string): string
  /** Requests about tasks. */
  tasks(door: Door, request: DoorRequest): Effect.Effect<DoorAnswer, DoorFailure>
}

/** Answers a request whose dialect and session are known. */
export type Dispatch = (door: Door, request: DoorRequest) => Effect.Effect<EncodedReply, HandlerError>

type Handled = Effect.Effect<EncodedReply, HandlerError | RpcFault>

/** The messages of clients of one dialect. */
export interface DoorClients {
  readonly dialect: DoorDialect
  post(door: Door, caller: Consumer, input: AnyInput, message: RpcMessage | RpcBatch): Handled
}

/** Clients that open sessions. */
export interface SessionClients extends DoorClients {
  sends(request: WebRequest, message: RpcMessage | RpcBatch): boolean
  /** A stream of messages. */
  get(door: Door, caller: Consumer, input: AnyInput): Handled
  /** Ends a session. */
  delete(door: Door, caller: Consumer, input: AnyInput): Handled
}

/** JSON texts of what the server says of itself. */
export interface DoorProfile {
  readonly capabilities: string
  readonly serverInfo: string | undefined
  readonly instructions: string | undefined
}

/** One page. */
export interface ToolList {
  /** A JSON array. */
  readonly tools: string
  readonly nextCursor: string | undefined
  /** `_meta` of the list itself, as JSON. */
  readonly meta?: string | undefined
}

export type DoorTool =
  | {
      /** A call that is billed. The frame makes it and writes its response. */
      readonly _tag: "Billed"
      readonly tool: ToolReference
      /** The tool's arguments: the client's own, except where one tool calls another. */
      readonly arguments: ToolArguments
      /** The caller's cap and the call's key, where they are among the arguments. */
      readonly maxCost?: Microcents | undefined
      readonly idempotencyKey?: string | undefined
    }
  /** A tool of the door itself, unbilled: the whole result as JSON text. */
  | { readonly _tag: "Own"; readonly result: string }

export interface ToolArguments {
  readonly text: string
  readonly value: Readonly<Record<string, unknown>>
}

export type DoorFailure = RpcFault | StoreUnavailable

export interface Door {
  /** Opens sessions; undefined where the service itself is the server. */
  readonly server?: ServerAddress | undefined
  /** Its tool that calls any other, with a cap among the arguments. */
  readonly callTool?: string | undefined
  /** The door passes on neither requests for these features nor the server's messages about them. */
  readonly featuresOff: ReadonlyArray<ServerFeature>
  /** A client gets it from `server/discover`, or with a session. */
  profile(request: DoorRequest): Effect.Effect<DoorProfile, DoorFailure>
  /** One page of `tools/list`. */
  tools(request: DoorRequest, cursor: string | undefined): Effect.Effect<ToolList, DoorFailure>
  /** Fails for a name that means nothing here. `maxCost`: what the caller agrees to pay besides its arguments. */
  tool(
    request: DoorRequest,
    name: string,
    given: ToolArguments,
    maxCost: Microcents | undefined
  ): Effect.Effect<DoorTool, DoorFailure>
  /** The provider's server says that its list of tools has changed. */
  readonly onListChanged?: (() => void) | undefined
  /** Messages of the service itself that belong to no request, for sessions, until it is interrupted. */
  readonly listen?: ((caller: Consumer, send: (message: string) => void) => Effect.Effect<never>) | undefined
  /** Any other request. It is not billed. */
  pass(request: DoorRequest): Effect.Effect<DoorAnswer, DoorFailure>
}

// Messages of a provider's server on their way to a client.

type Passing = Pick<Door, "featuresOff" | "onListChanged">

/**
 * Tells whether to pass on a message of the server, and tells the door of changes of the list. Messages about tasks may
 * contain results that are not billed yet.
 */
export const isPassed = ({ featuresOff, onListChanged }: Passing, message: string): boolean => {
  if (onListChanged !== undefined && LIST_CHANGED.test(message)) onListChanged()
  return !(MAY_BE_OF_TASKS.test(message) && isOfTasks(message)) && !isOfFeatures(message, featuresOff)
}

/** Sends those that are passed on. */
export const passing =
  (door: Passing, send: (message: string) => void): ((message: string) => void) =>
  (message) => {
    if (isPassed(door, message)) send(message)
  }

/** A name may be written with escapes. */
const MAY_BE_OF_TASKS = /notifications\/tasks|\\[u/]/iu

const isOfTasks = (message: string): boolean => {
  const { method } = JSON.parse(message) as { readonly method?: unknown }
  return typeof method === "string" && /^[^a-z]*notifications\/tasks/iu.test(method)
}

const LIST_CHANGED = /"method"\s*:\s*"notifications\/tools\/list_changed"/u
