/**
 * The door of one provider: its own tools under their own names, and everything else of its server passed through.
 */
import { Deferred, Duration, Effect, Option, Result, Schedule, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { type Provider, withoutAnnouncements, withoutFeatures } from "../../../domain/accounts/Account.ts"
import { permitsProvider } from "../../../domain/accounts/Levels.ts"
import { ProviderDirectory, ProviderNotFound } from "../../../domain/accounts/ProviderDirectory.ts"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { OfferChanges } from "../../../domain/mcp/OfferChanges.ts"
import type { ToolOffer } from "../../../domain/mcp/ToolOffer.ts"
import { ToolOffers } from "../../../domain/mcp/ToolOffers.ts"
import { UpstreamLimits } from "../../../domain/metering/CallTerms.ts"
import { ChangeFeed, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { withoutTasks } from "../../../domain/upstream/Protocol.ts"
import {
  type PassedReply,
  ProviderServers,
  type ServerAddress,
  type ServerFailed
} from "../../../domain/upstream/ProviderServers.ts"
import { type Door, type DoorFailure, type DoorRequest, listClient, passing } from "./Door.ts"
import type { DoorPath } from "./DoorRoutes.ts"
import { type DoorAnswer, errorAnswer, invalidParams, type RpcFault, serverFailed, textAt } from "./RpcMessages.ts"
import {
  announcedBy,
  ANNOUNCES_ALL,
  announcingTools,
  ended,
  LIST_CHANGED,
  type ListChanges,
  makeSubscriptions,
  subscription as listSubscription
} from "./Subscriptions.ts"
import { makeCounted } from "./MethodDispatch.ts"

// A tool that is listed may have a name from before the rules for new ones.
const isToolName = Schema.is(ToolNameSent)

const SUBSCRIBE = "subscriptions/listen"
/** What is known of a server needs no time. */
const PROFILE_WAIT = Duration.millis(200)
const SUBSCRIBE_AGAIN = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("1 minute")])

const providerDoors = Effect.gen(function* () {
  const servers = yield* ProviderServers
  const offers = yield* ToolOffers
  const counted = yield* makeCounted
  const { timeoutMs } = yield* UpstreamLimits
  const subscribed = yield* makeSubscriptions
  const offerChanges = yield* OfferChanges

  const moves = new Map<string, Deferred.Deferred<void>>()
  yield* onEachChange(yield* ChangeFeed, ({ id, topic }) => {
    const move = topic === "provider" ? moves.get(id) : undefined
    if (move === undefined) return
    moves.delete(id)
    Deferred.doneUnsafe(move, Effect.void)
  })

  const makeDoor = (provider: Provider): Door => {
    const { featuresOff = [] } = provider
    const onListChanged = () => offerChanges.announced(server)
    const server: ServerAddress = { providerId: provider.id, endpointUrl: provider.endpointUrl }

    /** Asks again in a new session if the server no longer knows the client's. */
    const ask = (request: DoorRequest, limitMs: number): Effect.Effect<DoorAnswer, DoorFailure> =>
      Effect.catchTag(askOnce(request, limitMs), "ServerFailed", (failure) =>
        Effect.flatMap(
          failure.sessionLost && request.renewSession !== undefined ? request.renewSession : Effect.undefined,
          (session) =>
            session === undefined
              ? Effect.fail(failedFault(failure))
              : Effect.catchTag(askOnce({ ...request, session }, limitMs), "ServerFailed", (again) =>
                  Effect.fail(failedFault(again))
                )
        )
      )

    const askOnce = (request: DoorRequest, limitMs: number): Effect.Effect<DoorAnswer, RpcFault | ServerFailed> => {
      const { caller, rpc } = request
      const params =
        rpc.method === SUBSCRIBE && rpc.params !== undefined
          ? withoutAnnouncements(rpc.params.text, featuresOff)
          : rpc.params?.text
      const sent = servers.ask(server, {
        method: rpc.method,
        params,
        inSession: request.clientSession !== undefined,
        capabilities: request.capabilities === undefined ? undefined : withoutTasks(request.capabilities),
        clientInfo: request.clientInfo,
        session: request.session,
        requestId: rpc.id,
        progressToken: textAt(rpc.meta, "progressToken"),
        consumerId: caller.ownerId,
        timeoutMs: limitMs,
        onMessage: passing({ featuresOff, onListChanged }, request.onMessage)
      })
      const answered = Effect.map(sent, answerOf)
      // A subscription counts as an open stream.
      return rpc.method === SUBSCRIBE ? answered : counted(request, answered)
    }

    const changes: ListChanges = (onChange) =>
      Effect.scoped(Effect.andThen(offerChanges.watch(server, onChange), Effect.never))

    /** A server with sessions announces in them only. */
    const announced = Effect.map(servers.profile(server), (profile) =>
      profile.sessions ? [] : announcedBy(withoutFeatures(profile.capabilities, featuresOff))
    )

    const subscription = Effect.fnUntraced(function* (request: DoorRequest, limitMs: number) {
      // A server that has not said it by then may announce all of it.
      const known = Option.flatten(yield* Effect.timeoutOption(Effect.option(announced), PROFILE_WAIT))
      const more = Option.getOrElse(known, () => announcedBy(withoutFeatures(ANNOUNCES_ALL, featuresOff)))
      return yield* listSubscription(request, limitMs, changes, more, (onMessage) => {
        const once = Effect.gen(function* () {
          if ((yield* announced).length === 0) return yield* Effect.never
          const { _tag } = yield* ask({ ...request, onMessage }, limitMs)
          // The server has no such subscription.
          if (_tag === "Error") return yield* Effect.never
        })
        return Effect.repeat(Effect.ignore(once), SUBSCRIBE_AGAIN)
      })
    })

    /** The provider may have moved its server: a client subscribes again, at the one that is there now. */
    const moved = ({ rpc }: DoorRequest): Effect.Effect<DoorAnswer> =>
      Effect.suspend(() => {
        const move = moves.get(provider.id) ?? Deferred.makeUnsafe<void>()
        moves.set(provider.id, move)
        return Effect.as(Deferred.await(move), { _tag: "Result" as const, result: ended(rpc.id) })
      })

    return {
      listen: (_, send) => changes(() => send(LIST_CHANGED)),
      onListChanged,
      server,
      featuresOff,

      profile: (request) =>
        servers.profile(server).pipe(
          Effect.mapError(failedFault),
          Effect.map((profile) => ({
            ...profile,
            capabilities: announcingTools(withoutFeatures(request.dialect.offered(profile), featuresOff))
          }))
        ),

      tools: Effect.fnUntraced(function* (request, cursor) {
        const after = cursor === undefined ? undefined : Base64Url.decodeString(cursor)
        if (after !== undefined && Result.isFailure(after)) return yield* invalidParams("`cursor` is malformed.")
        const { last, meta, tools } = yield* offers
          .page(server, listClient(request), request.caller.ownerId, after?.success, isDescribed(request))
          .pipe(
            Effect.catchTags({
              ServerFailed: (failure) => Effect.fail(failedFault(failure)),
              NoSuchToolPage: ({ message }) => Effect.fail(invalidParams(message))
            })
          )
        return { tools, meta, nextCursor: last === undefined ? undefined : Base64Url.encode(last) }
      }),

      tool: (request, name, given) => {
        if (!isToolName(name)) return Effect.fail(invalidParams(unknownTool(name)))
        const tool = { toolId: undefined, toolName: name, providerId: provider.id }
        const billed = { _tag: "Billed" as const, tool, arguments: given }
        const { parametersFault } = request.dialect
        if (parametersFault === undefined) return Effect.succeed(billed)
        return Effect.flatMapEager(knownOffer(request), (offer) => {
          const parameters = offer?.headerParameters(name) ?? []
          const fault = parametersFault(request.input.request, request.rpc.id, parameters, given.value)
          return fault === undefined ? Effect.succeed(billed) : Effect.fail(fault)
        })
      },

      pass: (request) =>
        request.rpc.method === SUBSCRIBE
          ? subscribed(request, (limitMs) => Effect.raceFirst(subscription(request, limitMs), moved(request)))
          : ask(request, timeoutMs)
    }

    /**
     * The list of tools by which the headers of arguments are checked. If none is known, only a request that sends such
     * headers waits for it: the server itself checks what it gets.
     */
    function knownOffer(request: DoorRequest): Effect.Effect<ToolOffer | undefined> {
      const { input } = request
      const client = listClient(request)
      const known = offers.latest(provider.id, client)
      if (known !== undefined) return Effect.succeed(known)
      const sent = Object.keys(input.request.headers).some((header) => header.startsWith("mcp-param-"))
      return sent ? Effect.orElseSucceed(offers.offer(server, client), () => undefined) : Effect.undefined
    }
  }

  const doors = new WeakMap<Provider, Door>()
  /** Made once per provider that the directory has read: a door per request would take longer than its request. */
  return (provider: Provider): Door => {
    const known = doors.get(provider)
    if (known !== undefined) return known
    const door = makeDoor(provider)
    doors.set(provider, door)
    return door
  }
})

export const providerDoorPath = Effect.gen(function* () {
  const directory = yield* ProviderDirectory
  const doorOf = yield* providerDoors
  const path: DoorPath = {
    path: "/mcp/:provider",
    summary: "A provider's MCP server, with its prices: for MCP clients, with a consumer's key",
    doorOf: ({ caller, pathParams }) =>
      Effect.flatMapEager(directory.find(pathParams["provider"] ?? ""), (provider) =>
        caller?.role === "consumer" && !caller.levels.every((level) => permitsProvider(level, provider))
          ? Effect.fail(new ProviderNotFound({ named: pathParams["provider"] ?? "" }))
          : Effect.succeed(doorOf(provider))
      )
  }
  return path
})

/** `?prices=off` on the door's address leaves the price out of the descriptions. */
const isDescribed = ({ input }: DoorRequest): boolean =>
  new URLSearchParams(input.request.query).get("prices") !== "off"

const unknownTool = (name: string): string => `There is no tool \`${name.slice(0, 128)}\`.`

const answerOf = (reply: PassedReply): DoorAnswer => (reply._tag === "Result" ? reply : errorAnswer(reply.error))

/** The caller may know the kind, and a sentence. */
const failedFault = ({ message, problem }: ServerFailed): RpcFault =>
  serverFailed(message, {
    problem: problem.kind,
    ...(problem.retryAfterSeconds === undefined ? {} : { retry_after_ms: problem.retryAfterSeconds * 1_000 })
  })
