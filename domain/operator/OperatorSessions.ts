/**
 * Sessions of the operator in a browser. The operator's key is exchanged for a random token, which ends after hours, when
 * it is not used, when it is signed out, and when the key changes: its hash in the store covers both.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import {
  OperatorKey,
  operatorPrincipal,
  type OperatorSession,
  OperatorSessionId,
  OperatorSessionStore,
  type Principal,
  type SessionTimes
} from "../accounts/Authentication.ts"
import { Digest, Entropy, isSameText } from "../shared/Cryptography.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const SESSION_LIFE = Duration.hours(8)
export const SESSION_IDLE_MAX = Duration.hours(1)
export const SESSIONS_MAX = 20

export const sessionTimes = (now: DateTime.Utc): SessionTimes => ({
  now,
  idleSince: DateTime.subtractDuration(now, SESSION_IDLE_MAX)
})
const TOKEN_BYTES = 32

/** The service was started without an operator key. */
export class OperatorDisabled extends Schema.TaggedError<OperatorDisabled>()("OperatorDisabled", {}) {
  override get message() {
    return "This service has no operator key, so signing in as its operator is disabled."
  }
}

/** The key that was sent is not the operator's. */
export class WrongOperatorKey extends Schema.TaggedError<WrongOperatorKey>()("WrongOperatorKey", {}) {
  override get message() {
    return "This is not the operator's key."
  }
}

/** The session has ended, or never existed. */
export class SessionEnded extends Schema.TaggedError<SessionEnded>()("SessionEnded", {}) {
  override get message() {
    return "The operator's session has ended. Sign in again."
  }
}

/** A session that began, with the token that proves it. */
export interface SignedIn {
  readonly token: string
  readonly session: OperatorSession
}

export class OperatorSessions extends Context.Service<
  OperatorSessions,
  {
    signIn(key: string, name: string): Effect.Effect<SignedIn, OperatorDisabled | WrongOperatorKey | StoreUnavailable>
    authenticate(token: string): Effect.Effect<Principal, SessionEnded | StoreUnavailable>
    end(id: OperatorSessionId): Effect.Effect<boolean, StoreUnavailable>
    /** Ends the sessions of everyone, on all nodes; returns how many there were. The key still signs in. */
    readonly endAll: Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/operator/OperatorSessions") {
  static readonly layer = Layer.effect(
    OperatorSessions,
    Effect.gen(function* () {
      const store = yield* OperatorSessionStore
      const entropy = yield* Entropy
      const { sha256Hex } = yield* Digest
      const configured = yield* OperatorKey
      const keyHash = configured === undefined ? undefined : sha256Hex(Redacted.value(configured))

      /** A copy of the store reveals neither the token nor the key, and no other key opens the session. */
      const hashOf = (token: string) => sha256Hex(`operator session\n${keyHash}\n${token}`)

      const signIn = Effect.fn("OperatorSessions.signIn")(function* (key: string, name: string) {
        if (keyHash === undefined) return yield* new OperatorDisabled()
        if (!isSameText(sha256Hex(key), keyHash)) return yield* new WrongOperatorKey()
        const now = yield* DateTime.now
        const token = yield* entropy.hex(TOKEN_BYTES)
        const session: OperatorSession = {
          id: OperatorSessionId.make(yield* entropy.uuid),
          name,
          createdAt: now,
          expiresAt: DateTime.addDuration(now, SESSION_LIFE),
          lastUsedAt: now
        }
        yield* store.insert(session, hashOf(token), SESSIONS_MAX)
        return { token, session }
      })

      const authenticate = Effect.fn("OperatorSessions.authenticate")(function* (token: string) {
        if (keyHash === undefined) return yield* new SessionEnded()
        const found = yield* store.use(hashOf(token), sessionTimes(yield* DateTime.now))
        if (Option.isNone(found)) return yield* new SessionEnded()
        return operatorPrincipal(found.value)
      })

      return OperatorSessions.of({
        signIn,
        authenticate,
        end: store.end,
        endAll: store.endAll
      })
    })
  )
}
