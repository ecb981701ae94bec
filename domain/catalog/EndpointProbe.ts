/**
 * Asks a provider's endpoint, when it or a tool of it is registered, what it is and which tools it lists. Bounded in time and
 * number, and never a condition: an endpoint that does not answer is accepted.
 */
import { Context, Duration, Effect, Layer, Option } from "effect"
import { ProviderServers, type ServerAddress, type ServerProfile, type ToolList } from "../upstream/ProviderServers.ts"
import { makeFreshCache } from "../shared/FreshCache.ts"
import { GUESSES_MAX, guessOf, nearestNames } from "../shared/NearestName.ts"
import { CatalogPolicy } from "./Terms.ts"

/** Any client may register endpoints. */
export const PROBES_AT_ONCE_MAX = 16
/** Registrations of tools at one endpoint follow each other. */
const KEPT_MS = 30_000
const KEPT_MAX = 1_000
const SERVER_NAME_CHARS_MAX = 100
const NAMES_SHOWN_MAX = 10

/** The answer of a provider's MCP server when the service asked it at registration. */
export interface EndpointReport {
  /** Undefined: it was not asked. */
  readonly reachable: boolean | undefined
  readonly era: "legacy" | "modern" | undefined
  readonly protocolVersion: string | undefined
  readonly serverName: string | undefined
  readonly serverVersion: string | undefined
  /** Undefined: its tools could not be read. */
  readonly list: ToolList | undefined
  /** The reason why it was not asked, did not answer, or its tools could not be read. */
  readonly problem: string | undefined
}

const unknown = (reachable: boolean | undefined, problem: string): EndpointReport => ({
  reachable,
  era: undefined,
  protocolVersion: undefined,
  serverName: undefined,
  serverVersion: undefined,
  list: undefined,
  problem
})

export class EndpointProbe extends Context.Service<
  EndpointProbe,
  {
    /** Runs outside of units of work. A report of the last seconds is not used if one of the tools is missing in it. */
    probe(server: ServerAddress, toolNames?: ReadonlyArray<string>): Effect.Effect<EndpointReport>
  }
>()("agent-tool-billing/domain/catalog/EndpointProbe") {
  static readonly layer = Layer.effect(
    EndpointProbe,
    Effect.gen(function* () {
      const servers = yield* Effect.serviceOption(ProviderServers)
      const { probeTimeout: timeout } = yield* CatalogPolicy
      const kept = yield* makeFreshCache<EndpointReport>({ entriesMax: KEPT_MAX, ttlMs: KEPT_MS })
      let atOnce = 0
      if (Option.isNone(servers) || Duration.isZero(timeout)) {
        return EndpointProbe.of({
          probe: () => Effect.succeed(unknown(undefined, "This service does not ask endpoints."))
        })
      }
      const { profile, tools } = servers.value

      const bounded = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
        effect.pipe(
          Effect.mapError(({ message }) => message),
          Effect.timeoutOrElse({
            duration: timeout,
            orElse: () => Effect.fail(`It did not answer within ${Duration.toSeconds(timeout)} s`)
          }),
          Effect.result
        )

      const ask = (server: ServerAddress) =>
        Effect.map(
          Effect.all([bounded(profile(server)), bounded(tools(server, 0, "any"))], { concurrency: 2 }),
          ([known, list]): EndpointReport => {
            const problem = list._tag === "Failure" ? list.failure : undefined
            if (known._tag === "Failure" && list._tag === "Failure") return unknown(false, known.failure)
            return {
              ...(known._tag === "Success" ? described(known.success) : unknown(true, "")),
              reachable: true,
              list: list._tag === "Success" ? list.success : undefined,
              problem
            }
          }
        )

      const counted = (server: ServerAddress) =>
        Effect.suspend(() => {
          if (atOnce >= PROBES_AT_ONCE_MAX) {
            return Effect.succeed(unknown(undefined, "Too many endpoints are being asked at the moment."))
          }
          atOnce++
          return Effect.ensuring(
            ask(server),
            Effect.sync(() => {
              atOnce--
            })
          )
        })

      const probe = Effect.fn("EndpointProbe.probe")(function* (
        server: ServerAddress,
        toolNames: ReadonlyArray<string> = []
      ) {
        const key = `${server.providerId} ${server.endpointUrl}`
        let isFresh = false
        const load = Effect.suspend(() => {
          isFresh = true
          return counted(server)
        })
        const read = Effect.suspend(() => kept.readThrough(key, load, ({ reachable }) => reachable !== undefined))
        const report = yield* read
        if (isFresh || !toolNames.some((name) => unlistedReason(report, name) !== undefined)) return report
        // The provider may have added the tool just now.
        kept.forget(key)
        return yield* read
      })

      return EndpointProbe.of({ probe })
    })
  )
}

/**
 * Returns why the tool cannot be registered: the endpoint was reached and lists tools, but not this one. Undefined if
 * it can be, or if this could not be checked.
 */
export const unlistedReason = ({ list }: EndpointReport, toolName: string): string | undefined => {
  if (list === undefined || list.truncated || list.tools.length === 0) return undefined
  const names = list.tools.map(({ name }) => name).filter((name) => name.length <= 128)
  if (names.includes(toolName)) return undefined
  const guess = guessOf(nearestNames(toolName, names, GUESSES_MAX))
  const shown = names.slice(0, NAMES_SHOWN_MAX).map((name) => `\`${name}\``)
  const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ""
  return (
    `your MCP server does not list a tool named \`${toolName}\`.${guess} ` +
    `It lists ${shown.join(", ")}${more}. To register the tool anyway, send \`"unlisted": true\``
  )
}

const described = ({ serverInfo, sessions, version }: ServerProfile): EndpointReport => {
  const info = parsed(serverInfo ?? "{}")
  return {
    reachable: true,
    era: sessions ? "legacy" : "modern",
    protocolVersion: version,
    serverName: textOf(info["name"]),
    serverVersion: textOf(info["version"]),
    list: undefined,
    problem: undefined
  }
}

const parsed = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined
  const text = value.slice(0, SERVER_NAME_CHARS_MAX).toWellFormed().replace(/\p{C}/gu, "").trim()
  return text === "" ? undefined : text
}
