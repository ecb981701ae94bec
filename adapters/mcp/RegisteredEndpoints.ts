/**
 * The address guard, asked about an endpoint that is registered now and called later. Lookups take threads that the whole
 * process shares, and anyone may register a name whose server is slow: few run at once, and what finds no room is not asked.
 */
import { Effect } from "effect"
import { EndpointBlocked, type EndpointGuard } from "../../domain/accounts/EndpointGuard.ts"
import { checkUrl, type GuardOptions, type Resolve, systemResolve } from "./GuardedConnector.ts"

const LOOKUPS_MAX = 2

export const registeredEndpoints = ({ resolve = systemResolve, ...guard }: GuardOptions): EndpointGuard => {
  let lookups = 0
  /** A lookup counts until it ends, however long ago its caller gave up. */
  const bounded: Resolve = (hostname, callback) => {
    if (lookups >= LOOKUPS_MAX) return callback(new Error("Too many lookups"), [])
    lookups++
    resolve(hostname, (error, addresses) => {
      lookups--
      callback(error, addresses)
    })
  }
  const check = checkUrl({ ...guard, resolve: bounded })
  return {
    check: (url) =>
      check(url).pipe(
        Effect.catchTags({
          AddressRefused: ({ hostname }) => Effect.fail(new EndpointBlocked({ hostname })),
          NameUnresolved: () => Effect.void
        })
      )
  }
}
