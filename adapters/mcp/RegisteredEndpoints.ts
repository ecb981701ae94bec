/**
 * Checks an endpoint at its registration with the address guard. Look-ups use threads of the whole process, and anyone
 * may register a name with a slow server: few run at once, and further ones are skipped.
 */
import { Effect } from "effect"
import { EndpointBlocked, type EndpointGuard } from "../../domain/accounts/EndpointGuard.ts"
import { checkUrl, type GuardOptions, type Resolve, systemResolve } from "./GuardedConnector.ts"

const LOOKUPS_MAX = 2

export const registeredEndpoints = ({ resolve = systemResolve, ...guard }: GuardOptions): EndpointGuard => {
  let lookups = 0
  /** A look-up counts until it ends, even if its caller has given up. */
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
          AddressRejected: ({ hostname }) => Effect.fail(new EndpointBlocked({ hostname })),
          NameUnresolved: () => Effect.void
        })
      )
  }
}
