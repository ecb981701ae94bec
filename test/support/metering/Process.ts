/**
 * The service as its operator starts it: a process of its own on a data folder, over a socket. It can be killed.
 */
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { kill } from "../servers/EmbeddedFolders.ts"
import { freePort } from "../servers/FreePort.ts"
import { serviceBundle } from "../servers/ServiceBundle.ts"

export interface Process {
  readonly url: string
  /** Like a power failure: nothing is logged or saved. */
  readonly kill: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
}

const READY_SECONDS_MAX = 120

/** Without the test runner's variables, such as a BASE_URL of its own. */
const cleanEnvironment = {
  ...Object.fromEntries(
    ["PATH", "HOME", "TMPDIR"].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  ),
  // A test's catalog has only the tools that it lists.
  DEMO_PROVIDER: "off"
}

/** Ended with the scope, unless it ended before. */
export const serve = Effect.fnUntraced(function* (dataDir: string, settings: Readonly<Record<string, string>> = {}) {
  const port = yield* freePort
  const { compiled, main } = yield* Effect.promise(serviceBundle)
  const options = {
    profile: "embedded",
    "data-dir": dataDir,
    port: String(port),
    "shutdown-grace-ms": "20000",
    ...settings
  }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        process.execPath,
        [main, "serve", ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])],
        { stdio: ["ignore", "pipe", "pipe"], env: { ...cleanEnvironment, NODE_COMPILE_CACHE: compiled } }
      )
    ),
    (running) =>
      Effect.andThen(
        kill(running, "SIGTERM"),
        Effect.sync(() => running.kill("SIGKILL"))
      )
  )
  const url = yield* Effect.callback<string>((resume) => {
    let said = ""
    const listen = (chunk: Buffer) => {
      said += chunk.toString("utf8")
      const address = /ready at (?<url>http:\/\/\S+)/u.exec(said)?.groups?.["url"]
      if (address !== undefined) resume(Effect.succeed(address))
    }
    child.stdout.on("data", listen)
    child.stderr.on("data", listen)
    child.once("close", () => resume(Effect.die(new Error(`The service ended: ${said}`))))
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${READY_SECONDS_MAX} seconds`,
      orElse: () => Effect.die(new Error("The service did not become ready"))
    })
  )
  const running: Process = { url, kill: kill(child, "SIGKILL"), stop: kill(child, "SIGTERM") }
  return running
})

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

export interface Request {
  readonly path: string
  readonly key?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { path: Schema.String, why: Schema.String }) {
  override get message() {
    return `No answer came from ${this.path}: ${this.why}`
  }
}

/** Over a socket; disconnects on interruption. Fails without a response. */
export const ask = ({ url }: Pick<Process, "url">, { headers, json, key, path }: Request) =>
  Effect.tryPromise({
    try: async (signal): Promise<Reply> => {
      const response = await fetch(`${url}${path}`, {
        method: json === undefined ? "GET" : "POST",
        signal,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        }
      })
      const text = await response.text()
      const isJson = (response.headers.get("content-type") ?? "").includes("json")
      return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
    },
    catch: (cause) => new NoAnswer({ path, why: String(cause) })
  })
