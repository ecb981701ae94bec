/**
 * The service on a real socket, and malformed bytes of a client.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"
import type { Dispatcher } from "../../../adapters/http/pipeline/Dispatcher.ts"
import * as RouterMount from "../../../adapters/http/server/RouterMount.ts"
import { layer as nodeServer, ListeningAt, type ServerSettings } from "../../../adapters/http/server/NodeServer.ts"
import type { Source } from "../../../src/config/AppConfig.ts"
import { memoryConfig, wholeService } from "../market/ServiceConfig.ts"

type Limits = Pick<
  ServerSettings,
  "connectionsMax" | "connectionsPerAddressMax" | "requestMs" | "silenceMs" | "trustedProxies"
>

export class RawHttp extends Context.Service<RawHttp, { readonly port: number }>()(
  "agent-tool-billing/test/support/RawHttp"
) {
  static readonly layer = (settings: Source = {}, limits: Limits = {}): Layer.Layer<RawHttp> =>
    RawHttp.over(wholeService(memoryConfig(settings)), limits)

  /** For a dispatcher that a test has built. */
  static readonly over = (dispatcher: Layer.Layer<Dispatcher>, limits: Limits = {}): Layer.Layer<RawHttp> =>
    Layer.effect(
      RawHttp,
      Effect.map(ListeningAt, ({ port }) => ({ port }))
    ).pipe(
      Layer.provide(nodeServer({ host: "127.0.0.1", port: 0, drain: "5 seconds", ...limits })),
      Layer.provide(dispatcher),
      Layer.orDie
    )

  /** In an app's own router, on the server of Effect's platform. */
  static readonly mounted = (settings: Source = {}): Layer.Layer<RawHttp> =>
    Layer.effect(
      RawHttp,
      Effect.map(HttpServer.HttpServer, ({ address }) => ({ port: "port" in address ? address.port : 0 }))
    ).pipe(
      Layer.provideMerge(HttpRouter.serve(RouterMount.layer(), { disableLogger: true, disableListenLog: true })),
      Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
      Layer.provide(wholeService(memoryConfig(settings))),
      Layer.orDie
    )
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Heard {
  readonly answers: ReadonlyArray<RawAnswer>
  /** Incomplete data after the last response. */
  readonly rest: string
  readonly isClosed: boolean
}

/** Bytes, a pause in milliseconds, or the end of the client's data. */
export type Step = string | Uint8Array | number | "end" | "destroy"

export interface Conversation {
  /** Ends with this many responses, when the connection is closed, or on timeout. */
  readonly answers?: number
  readonly method?: "HEAD"
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000

export const talk = (steps: ReadonlyArray<Step>, options: Conversation = {}): Effect.Effect<Heard, never, RawHttp> =>
  Effect.flatMap(RawHttp, ({ port }) =>
    Effect.callback<Heard>((resume) => {
      const socket = connect({ host: "127.0.0.1", port })
      let heard = Buffer.alloc(0)
      const finish = (isClosed: boolean) => {
        clearTimeout(timer)
        socket.destroy()
        resume(Effect.succeed({ ...parsed(heard, options.method === "HEAD"), isClosed }))
      }
      const timer = setTimeout(() => finish(false), options.timeoutMs ?? TIMEOUT_MS)
      socket.on("data", (chunk: Buffer) => {
        heard = Buffer.concat([heard, chunk])
        const { answers } = parsed(heard, options.method === "HEAD")
        if (answers.length >= (options.answers ?? Number.POSITIVE_INFINITY)) finish(false)
      })
      socket.on("error", () => finish(true))
      socket.on("close", () => finish(true))
      socket.on("connect", () => void say(socket, steps))
      return Effect.sync(() => {
        clearTimeout(timer)
        socket.destroy()
      })
    })
  )

export const ask = (head: ReadonlyArray<string>, body = "") =>
  Effect.map(
    talk([`${[...head, "host: market.example"].join("\r\n")}\r\n\r\n${body}`], {
      answers: 1,
      ...(head[0]!.startsWith("HEAD") ? { method: "HEAD" } : {})
    }),
    ({ answers }) => {
      const [answer] = answers
      if (answer === undefined) throw new Error(`No answer to ${head[0]}`)
      return answer
    }
  )

const say = async (socket: Socket, steps: ReadonlyArray<Step>): Promise<void> => {
  for (const step of steps) {
    if (socket.destroyed) return
    if (typeof step === "number") await new Promise((resolve) => setTimeout(resolve, step))
    else if (step === "end") socket.end()
    else if (step === "destroy") socket.destroy()
    else socket.write(step)
  }
}

const parsed = (
  heard: Buffer,
  isHead: boolean
): { readonly answers: ReadonlyArray<RawAnswer>; readonly rest: string } => {
  const answers: Array<RawAnswer> = []
  let rest = heard
  for (;;) {
    const end = rest.indexOf("\r\n\r\n")
    if (end === -1) break
    const [line = "", ...lines] = rest.subarray(0, end).toString("latin1").split("\r\n")
    const status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(line)?.[1] ?? Number.NaN)
    const headers = Object.fromEntries(
      lines.map((one) => [one.slice(0, one.indexOf(":")).toLowerCase(), one.slice(one.indexOf(":") + 1).trim()])
    )
    const length = isHead || status < 200 || status === 204 ? 0 : Number(headers["content-length"] ?? 0)
    if (Number.isNaN(status) || rest.length < end + 4 + length) break
    const body = rest.subarray(end + 4, end + 4 + length).toString("utf8")
    if (status >= 200) answers.push({ status, headers, body })
    rest = rest.subarray(end + 4 + length)
  }
  return { answers, rest: rest.toString("latin1") }
}
