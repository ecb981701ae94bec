/**
 * The service that the user is signed in to: requests with their key, failures as values, and a sign of life on stderr
 * while one takes long.
 */
import { Console, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { type Client, createClient } from "../../client/Client.ts"
import { type CommandFailure, failed, failureOf } from "./CommandFailure.ts"
import { type Login, LoginFile } from "./LoginFile.ts"

const FIRST_SIGN = Duration.seconds(1)
const NEXT_SIGN = Duration.seconds(10)

export class Market extends Context.Service<
  Market,
  {
    readonly login: Login
    /** `doing`: printed while it takes long, such as "Calling demo/echo". */
    ask<A>(doing: string, run: (client: Client, signal: AbortSignal) => Promise<A>): Effect.Effect<A, CommandFailure>
  }
>()("agent-tool-billing/src/user/Market") {
  /** For commands that need a key. */
  static readonly layer = Layer.effect(
    Market,
    Effect.gen(function* () {
      const login = yield* found
      if (login.key === undefined) return yield* signedOut(`There is no key for ${login.url}.`)
      return marketAt(login)
    })
  )

  /** For commands that anyone may use. */
  static readonly layerPublic = Layer.effect(
    Market,
    Effect.map(
      Effect.suspend(() => found),
      (login) => marketAt(login)
    )
  )
}

const found = Effect.gen(function* () {
  const login = yield* (yield* LoginFile).read
  return Option.isSome(login) ? login.value : yield* signedOut("You are not signed in.")
})

const signedOut = (what: string) =>
  failed("signed_out", `${what} Run \`login\`, or set AGENT_TOOL_BILLING_URL and AGENT_TOOL_BILLING_KEY.`)

/** Without `key` in the login, as any client. */
export const marketAt = (login: Login): Market["Service"] => {
  const client = createClient({
    baseUrl: login.url,
    ...(login.key === undefined ? {} : { key: Redacted.value(login.key) })
  })
  return {
    login,
    ask: (doing, run) =>
      Effect.scoped(
        Effect.andThen(
          Effect.forkScoped(signsOfLife(doing)),
          Effect.tryPromise({
            try: (signal) => run(client, signal),
            catch: (error) => failureOf(error, login.url)
          })
        )
      )
  }
}

const signsOfLife = Effect.fnUntraced(function* (doing: string) {
  yield* Effect.sleep(FIRST_SIGN)
  yield* Console.error(`${doing} …`)
  for (let seconds = 1; ;) {
    yield* Effect.sleep(NEXT_SIGN)
    seconds += Duration.toSeconds(NEXT_SIGN)
    yield* Console.error(`${doing} … ${seconds} s`)
  }
})
