/**
 * Where a user's login is kept: `agent-tool-billing/login.json` below XDG_CONFIG_HOME, readable by its owner alone.
 */
import { Context, Effect, FileSystem, Layer, Option, Path, Redacted, Result, Schema } from "effect"
import { isPlainKey } from "../../adapters/site/connect/ClientConfigs.ts"
import type { Source } from "../config/AppConfig.ts"
import { httpUrl } from "../config/SettingValues.ts"
import { failed } from "./CommandFailure.ts"

/** A service, the key of an account of it, and the keys of its log when the user signed in. */
export interface Login {
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

export class LoginFile extends Context.Service<
  LoginFile,
  {
    readonly path: string
    /** The environment's service and key, or those of the file. */
    readonly read: Effect.Effect<Option.Option<Login>, ReturnType<typeof failed>>
    write(login: {
      readonly url: string
      readonly key: Redacted.Redacted
      readonly logKeys: ReadonlyArray<string>
    }): Effect.Effect<void, ReturnType<typeof failed>>
    /** Whether there was one. */
    readonly remove: Effect.Effect<boolean, ReturnType<typeof failed>>
  }
>()("agent-tool-billing/src/user/LoginFile") {
  static readonly layer = (environment: Source) => Layer.effect(LoginFile, make(environment))
}

const make = Effect.fnUntraced(function* (environment: Source) {
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
    // Without the key, which may be a real one with a stray character.
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

/** Enough of a key to recognize it. */
export const shownKey = (key: Redacted.Redacted): string => `${Redacted.value(key).slice(0, 12)}…`
