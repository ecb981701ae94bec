/**
 * What providers publish: TXT records by the resolver that is configured, files by a fetch that is guarded. Everything is
 * bounded, and whatever is not a plain "there is none" is no answer.
 */
import { Effect, Layer } from "effect"
import { Resolver } from "node:dns/promises"
import { ProofReader, ProofUnreadable } from "../../domain/trust/ProofReader.ts"
import { repositoryFileUrl, WELL_KNOWN_PATH } from "../../domain/trust/Proofs.ts"

export interface Fetched {
  readonly status: number
  readonly body: Uint8Array
}

export interface ProofOptions {
  /** Through the guard against addresses that are nobody's business. */
  readonly fetch: (request: {
    readonly url: string
    readonly timeoutMs: number
    readonly bodyBytesMax: number
    readonly redirectsMax: number
  }) => Effect.Effect<Fetched, { readonly message: string }>
  /** `address:port`; the machine's own resolvers, if there are none. */
  readonly dnsServers: ReadonlyArray<string>
  /** Where a domain is asked for its well-known file; for tests that have no certificate. */
  readonly originOf?: (domain: string) => string
}

const TIMEOUT_MS = 5_000
const FILE_BYTES_MAX = 65_536
const RECORDS_MAX = 100
const NONE: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA"])

export const layer = ({ dnsServers, fetch, originOf = (domain) => `https://${domain}` }: ProofOptions) =>
  Layer.sync(ProofReader, () => {
    const txt = Effect.fn("PublishedProofs.txt")(function* (name: string) {
      const unreadable = (problem: string) => new ProofUnreadable({ place: name, problem })
      const resolver = new Resolver({ timeout: TIMEOUT_MS / 2, tries: 2 })
      if (dnsServers.length > 0) resolver.setServers(dnsServers)
      return yield* Effect.tryPromise({
        try: () => resolver.resolveTxt(name),
        catch: (error) => (error as { readonly code?: string }).code ?? "unknown"
      }).pipe(
        Effect.map((records) => records.slice(0, RECORDS_MAX).map((parts) => parts.join(""))),
        Effect.catch((code) => (NONE.has(code) ? Effect.succeed([]) : Effect.fail(unreadable(code)))),
        Effect.timeoutOrElse({
          duration: TIMEOUT_MS,
          orElse: () => Effect.fail(unreadable("the name server did not answer in time"))
        }),
        Effect.ensuring(Effect.sync(() => resolver.cancel()))
      )
    })

    const file = Effect.fnUntraced(function* (url: string) {
      const unreadable = (problem: string) => new ProofUnreadable({ place: url, problem })
      const answer = yield* fetch({ url, timeoutMs: TIMEOUT_MS, bodyBytesMax: FILE_BYTES_MAX, redirectsMax: 2 }).pipe(
        Effect.mapError((error) => unreadable(error.message))
      )
      if (answer.status === 404 || answer.status === 410) return undefined
      if (answer.status !== 200) return yield* unreadable(`it was answered with ${answer.status}`)
      return new TextDecoder().decode(answer.body)
    })

    return ProofReader.of({
      txt,
      wellKnown: (domain) => file(`${originOf(domain)}${WELL_KNOWN_PATH}`),
      repositoryFile: (repository) => file(repositoryFileUrl(repository))
    })
  })
