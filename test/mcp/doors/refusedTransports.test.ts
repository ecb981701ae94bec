/**
 * Clients that try OAuth, or the older HTTP+SSE transport, show their users how to connect instead.
 */
import { assert, describe, it } from "@effect/vitest"
import * as sdk2 from "@modelcontextprotocol/client"
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport, SseError } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { aDeveloper } from "../../support/market/HttpMarket.ts"
import { freePort } from "../../support/servers/FreePort.ts"
import { ready, temporaryFolder } from "../../support/servers/ServiceProcess.ts"

const MCP_REMOTE = join(import.meta.dirname, "../../../node_modules/mcp-remote/dist/proxy.js")
const INFO = { name: "test", version: "1" }
const SLOW = 120_000

const service = ready({ PROFILE: "memory", LOG_LEVEL: "Error" })

/** As an application has it that its user may sign in from. */
const signIn = (): OAuthClientProvider => {
  let client: unknown
  return {
    redirectUrl: "http://127.0.0.1:1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1:1/callback"] },
    clientInformation: () => client as undefined,
    saveClientInformation: (information) => {
      client = information
    },
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => ""
  }
}

const failureOf = (connecting: Promise<unknown>) =>
  Effect.promise(() =>
    connecting.then(
      () => assert.fail("It has connected"),
      (error: unknown) => error as Error
    )
  )

const headersOf = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` }

/** What each official client says to its user. */
const CLIENTS: ReadonlyArray<readonly [string, (url: URL, key: string | undefined) => Promise<unknown>]> = [
  [
    "SDK 1.x",
    (url, key) => {
      const options = { authProvider: signIn(), requestInit: { headers: headersOf(key) } }
      return new Client(INFO).connect(new StreamableHTTPClientTransport(url, options) as Transport)
    }
  ],
  [
    "SDK 2.x",
    (url, key) => {
      const authProvider = signIn() as unknown as sdk2.OAuthClientProvider
      const options = { authProvider, requestInit: { headers: headersOf(key) } }
      return new sdk2.Client(INFO).connect(new sdk2.StreamableHTTPClientTransport(url, options))
    }
  ]
]

const KEYS = [
  ["no key", undefined],
  ["a wrong one", `atb_c_${"x".repeat(40)}`]
] as const

const telling = (text: string, url: string) => {
  for (const part of [
    "does not use OAuth",
    "If your client sends no key",
    "If it sends one, the key is wrong",
    `Get a key at ${url}/developers/register.`
  ]) {
    assert.include(text, part)
  }
}

/** Everything that `mcp-remote` prints until `isEnough`, or until it ends. */
const remote = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  isEnough: (output: string) => boolean = () => false
) {
  const home = yield* temporaryFolder
  return yield* Effect.callback<string>((resume) => {
    let output = ""
    const child = spawn(process.execPath, [MCP_REMOTE, ...args], {
      env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: process.env["PATH"] ?? "" },
      stdio: ["pipe", "ignore", "pipe"]
    })
    child.stderr.on("data", (data: Buffer) => {
      output += data.toString()
      if (isEnough(output)) child.kill("SIGKILL")
    })
    child.on("close", () => resume(Effect.succeed(output)))
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
})

describe("a client that tries OAuth", () => {
  it.live(
    "shows that the service takes a key, and where to get one",
    () =>
      Effect.gen(function* () {
        const { url } = yield* service
        for (const [name, connect] of CLIENTS) {
          for (const [sent, key] of KEYS) {
            const failure = yield* failureOf(connect(new URL(`${url}/mcp`), key))
            assert.notInclude(failure.message, "Invalid OAuth error response", `${name}, ${sent}`)
            telling(failure.message, url)
          }
        }
        for (const [, key] of KEYS) {
          const header = key === undefined ? [] : ["--header", `Authorization: Bearer ${key}`]
          const callback = yield* freePort
          telling(yield* remote([`${url}/mcp`, String(callback), "--allow-http", ...header]), url)
        }
      }),
    SLOW
  )

  it.live("gets OAuth's own shape, and no authorization server", () =>
    Effect.gen(function* () {
      const { url } = yield* service
      const asked = (method: string, path: string) =>
        Effect.promise(async () => {
          const answer = await fetch(`${url}${path}`, { method, headers: { accept: "text/html" }, redirect: "manual" })
          return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> }
        })
      for (const [method, path, status] of [
        ["POST", "/register", 400],
        ["GET", "/authorize?response_type=code&client_id=a", 400],
        ["POST", "/authorize", 400],
        ["POST", "/token", 400],
        ["GET", "/.well-known/oauth-protected-resource/mcp?prices=off", 404],
        ["GET", "/.well-known/oauth-protected-resource/mcp/acme", 404],
        ["GET", "/.well-known/oauth-authorization-server", 404],
        ["GET", "/.well-known/openid-configuration", 404],
        ["GET", "/mcp/.well-known/openid-configuration", 404],
        ["GET", "/mcp/acme/.well-known/openid-configuration", 404]
      ] as const) {
        const answer = yield* asked(method, path)
        assert.strictEqual(answer.status, status, path)
        assert.deepStrictEqual(Object.keys(answer.body), ["error", "error_description"])
        assert.strictEqual(answer.body["error"], "invalid_request")
        // RFC 6749, section 5.2.
        assert.match(String(answer.body["error_description"]), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/u)
        telling(String(answer.body["error_description"]), url)
      }
    })
  )
})

describe("a client of the older HTTP+SSE transport", () => {
  it.live(
    "is told the URL of streamable HTTP, with a key or without",
    () =>
      Effect.gen(function* () {
        const { url } = yield* service
        const key = yield* aDeveloper(url)
        for (const [path, status] of [
          ["/mcp", 405],
          ["/mcp/acme", 405],
          ["/sse", 404]
        ] as const) {
          const named = `streamable HTTP (\`http\`), with the URL ${url}${path === "/sse" ? "/mcp" : path}`
          for (const sent of [undefined, key, "atb_c_wrong"]) {
            const headers = { accept: "text/event-stream", ...headersOf(sent) }
            const answer = yield* Effect.promise(() => fetch(`${url}${path}`, { headers }))
            assert.strictEqual(answer.status, status)
            assert.include(((yield* Effect.promise(() => answer.json())) as RpcError).error.message, named)
          }
          const client = new Client(INFO)
          const transport = new SSEClientTransport(new URL(`${url}${path}`), { authProvider: signIn() })
          const failure = yield* failureOf(client.connect(transport as Transport))
          assert.strictEqual(failure instanceof SseError ? failure.code : failure, status)
        }
        const at = new StreamableHTTPClientTransport(new URL(`${url}/sse`), {
          requestInit: { headers: headersOf(key) }
        })
        const failure = yield* failureOf(new Client(INFO).connect(at as Transport))
        assert.include(failure.message, `with the URL ${url}/mcp and the header`)
        // A session's own stream, and what names its version, are of the newer transport.
        for (const newer of [{ "mcp-session-id": "a" }, { "mcp-protocol-version": "2025-11-25" }]) {
          const headers = { accept: "text/event-stream", ...newer }
          assert.strictEqual((yield* Effect.promise(() => fetch(`${url}/mcp`, { headers }))).status, 401)
        }
      }),
    SLOW
  )

  it.live(
    "goes on to streamable HTTP, if it can",
    () =>
      Effect.gen(function* () {
        const { url } = yield* service
        const key = yield* aDeveloper(url)
        const args = [
          `${url}/mcp`,
          "--allow-http",
          "--transport",
          "sse-first",
          "--header",
          `Authorization: Bearer ${key}`
        ]
        const isConnected = (output: string) => output.includes("Connected to remote server using StreamableHTTP")
        assert.isTrue(isConnected(yield* remote(args, isConnected)))
      }),
    SLOW
  )
})

interface RpcError {
  readonly error: { readonly message: string }
}
