/**
 * Reads published proofs: TXT records with the configured resolver, files with a guarded fetch. Everything is bounded,
 * and only an explicit "not found" counts as a missing proof.
 */
import { Effect, Layer } from "effect"
import { Resolver } from "node:dns/promises"
import { repositoryFileUrl, WELL_KNOWN_PATH } from "../../domain/trust/Challenge.ts"
import { ProofReader, ProofUnreadable } from "../../domain/trust/Verification.ts"

export interface Fetched {
  readonly status: number
  readonly body: Uint8Array
}

export interface ProofOptions {
  /** Guarded against internal addresses. */
  readonly fetch: (request: {
    readonly url: string
    readonly timeoutMs: number
    readonly bodyBytesMax: number
    readonly redirectsMax: number
  }) => Effect.Effect<Fetched, { readonly message: string }>
  /** `address:port`; the system's resolvers if empty. */
  readonly dnsServers: ReadonlyArray<string>
  /** Base URL of the well-known file, for tests without a certificate. */
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
          orElse: () => Effect.fail(unreadable("the name server did not respond in time"))
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
      if (answer.status !== 200) return yield* unreadable(`the response status was ${answer.status}`)
      return new TextDecoder().decode(answer.body)
    })

    return ProofReader.of({
      txt,
      wellKnown: (domain) => file(`${originOf(domain)}${WELL_KNOWN_PATH}`),
      repositoryFile: (repository) => file(repositoryFileUrl(repository))
    })
  })
