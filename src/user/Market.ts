/**
 * The service that the user is signed in to: where the login is kept, requests with its key, failures as values, and a sign
 * of life on stderr while a request takes long.
 */
import { Console, Context, Duration, Effect, FileSystem, Layer, Option, Path, Redacted, Result, Schema } from "effect"
import { isPlainKey } from "../../adapters/site/connect/ClientConfigs.ts"
import { type Client, createClient } from "../../client/Client.ts"
import type { Source } from "../config/AppConfig.ts"
import { httpUrl } from "../config/SettingValues.ts"
import { type CommandFailure, failed, failureOf } from "./CommandFailure.ts"

/** A service, the key of an account of it, and the keys of its log when the user signed in. */
interface Login {
  readonly url: string
  readonly key: Redacted.Redacted | undefined
  readonly logKeys: ReadonlyArray<string>
  readonly source: "environment" | "file"
}

const Kept = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, key: Schema.String, log_keys: Schema.Array(Schema.String) })
)

const FILE_BYTES_MAX = 65_536
const OWNER_ONLY = 0o600
const OTHERS = 0o077

/** The file is `agent-tool-billing/login.json` below XDG_CONFIG_HOME. Only its owner can read it. */
export class LoginFile extends Context.Service<
  LoginFile,
  {
    readonly path: string
    /** The environment's service and key, or those of the file. */
    readonly read: Effect.Effect<Option.Option<Login>, CommandFailure>
    write(login: {
      readonly url: string
      readonly key: Redacted.Redacted
      readonly logKeys: ReadonlyArray<string>
    }): Effect.Effect<void, CommandFailure>
    /** The result says if there was one. */
    readonly remove: Effect.Effect<boolean, CommandFailure>
  }
>()("agent-tool-billing/src/user/LoginFile") {
  static readonly layer = (environment: Source) => Layer.effect(LoginFile, makeLoginFile(environment))
}

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
  /** Fails without a key. */
  static readonly layer = Layer.effect(
    Market,
    Effect.gen(function* () {
      const login = yield* found
      if (login.key === undefined) return yield* signedOut(`There is no key for ${login.url}.`)
      return marketAt(login)
    })
  )

  /** Needs the URL of a service, but no key. */
  static readonly layerPublic = Layer.effect(
    Market,
    Effect.map(
      Effect.suspend(() => found),
      (login) => marketAt(login)
    )
  )
}

/** Asks the service, as `Market.ask`. */
export const ask = <A>(doing: string, run: (client: Client, signal: AbortSignal) => Promise<A>) =>
  Effect.flatMap(Market, (market) => market.ask(doing, run))

const found = Effect.gen(function* () {
  const login = yield* (yield* LoginFile).read
  return Option.isSome(login) ? login.value : yield* signedOut("You are not signed in.")
})

const signedOut = (what: string) =>
  failed("signed_out", `${what} Run \`login\`, or set AGENT_TOOL_BILLING_URL and AGENT_TOOL_BILLING_KEY.`)

/** A login without a key makes requests as any client does. */
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

const makeLoginFile = Effect.fnUntraced(function* (environment: Source) {
  const fs = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const home = environment["XDG_CONFIG_HOME"] || join(environment["HOME"] ?? ".", ".config")
  const folder = join(home, "agent-tool-billing")
  const path = join(folder, "login.json")
  const unusable = (why: string) => failed("failed", `${path} cannot be used: ${why}. Run \`login\` again.`)

  const kept = Effect.gen(function* () {
    if (!(yield* fs.exists(path))) return Option.none<typeof Kept.Type>()
    const { mode, size } = yield* fs.stat(path)
    if (Number(size) > FILE_BYTES_MAX) return yield* unusable(`it is larger than ${FILE_BYTES_MAX} bytes`)
    // On Windows modes mean nothing.
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      return yield* unusable("other users of this machine can read it, so its key may be known. Revoke that key")
    }
    return Option.some(yield* Schema.decodeUnknownEffect(Kept)(yield* fs.readFileString(path)))
  }).pipe(
    Effect.catchTags({
      PlatformError: ({ message }) => Effect.fail(unusable(message)),
      SchemaError: () => Effect.fail(unusable("it is not the file that `login` writes"))
    })
  )

  const read = Effect.gen(function* () {
    const url = environment["AGENT_TOOL_BILLING_URL"]
    const key = environment["AGENT_TOOL_BILLING_KEY"]
    const file = url && key ? Option.none() : yield* kept
    const stored = Option.getOrUndefined(file)
    const base = (url || stored?.url)?.replace(/\/+$/u, "")
    if (base === undefined) return Option.none<Login>()
    const checked = Schema.decodeUnknownResult(httpUrl)(base)
    if (Result.isFailure(checked)) {
      return yield* failed("invalid", `AGENT_TOOL_BILLING_URL=${base.slice(0, 200)}: ${checked.failure.message}.`)
    }
    // The message omits the key, which may be a real one with a stray character.
    if (key && !isPlainKey(key)) return yield* failed("invalid", "AGENT_TOOL_BILLING_KEY is not an API key.")
    // The stored key is sent to no other service than its own.
    const own = stored?.url === base ? stored : undefined
    return Option.some<Login>({
      url: base,
      key: key ? Redacted.make(key) : own === undefined ? undefined : Redacted.make(own.key),
      logKeys: own?.log_keys ?? [],
      source: url || key ? "environment" : "file"
    })
  })

  return LoginFile.of({
    path,
    read,
    write: ({ key, logKeys, url }) =>
      Effect.gen(function* () {
        yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
        const text = yield* Schema.encodeEffect(Kept)({ url, key: Redacted.value(key), log_keys: logKeys })
        // A new file has the mode from its first byte on, and replaces whatever is at the path.
        const fresh = `${path}.${process.pid}`
        yield* fs.remove(fresh, { force: true })
        yield* fs.writeFileString(fresh, `${text}\n`, { flag: "wx", mode: OWNER_ONLY })
        yield* fs.rename(fresh, path)
      }).pipe(Effect.mapError((error) => failed("failed", `${path} cannot be written: ${error.message}.`))),
    remove: Effect.gen(function* () {
      const existed = yield* fs.exists(path)
      yield* fs.remove(path, { force: true })
      return existed
    }).pipe(Effect.mapError((error) => failed("failed", `${path} cannot be removed: ${error.message}.`)))
  })
})

/** Shows enough of a key to recognize it. */
export const shownKey = (key: Redacted.Redacted): string => `${Redacted.value(key).slice(0, 12)}…`
