/**
 * An OpenTelemetry collector for tests: a server on loopback that accepts OTLP in JSON, and that can be slow, reject,
 * or never respond.
 */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Fields = Readonly<Record<string, unknown>>

export interface Span {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Fields
  readonly resource: Fields
}

export interface Line {
  readonly body: unknown
  readonly severityText: string
  readonly traceId: string | undefined
  readonly attributes: Fields
}

/** `hangs` accepts the request and never responds; `trickles` responds without end. A number is a status. */
export type Manner = "takes" | "hangs" | "trickles" | number

interface Post {
  readonly path: string
  readonly headers: Fields
  readonly text: string
}

export class Collector {
  readonly posts: Array<Post> = []
  manner: Manner = "takes"
  answerHeaders: Readonly<Record<string, string>> = {}
  /** Requests that are not answered yet, and their maximum. */
  underWay = 0
  underWayMost = 0

  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  spans(): ReadonlyArray<Span> {
    return this.#of("/v1/traces").flatMap(({ resourceSpans }) =>
      all(resourceSpans).flatMap(({ resource, scopeSpans }) =>
        all(scopeSpans).flatMap(({ spans }) =>
          all(spans).map((span) => ({
            ...(span as unknown as Span),
            attributes: fieldsOf(span["attributes"]),
            resource: fieldsOf((resource as Fields)["attributes"])
          }))
        )
      )
    )
  }

  lines(): ReadonlyArray<Line> {
    return this.#of("/v1/logs").flatMap(({ resourceLogs }) =>
      all(resourceLogs).flatMap(({ scopeLogs }) =>
        all(scopeLogs).flatMap(({ logRecords }) =>
          all(logRecords).map((line) => ({
            ...(line as unknown as Line),
            body: plain(line["body"]),
            attributes: fieldsOf(line["attributes"])
          }))
        )
      )
    )
  }

  text(): string {
    return this.posts.map(({ path, text }) => `${path} ${text}`).join("\n")
  }

  #of(path: string): ReadonlyArray<Fields> {
    return this.posts.filter((post) => post.path.endsWith(path)).map(({ text }) => JSON.parse(text) as Fields)
  }
}

export const collector = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer()
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.callback<void>((resume) => {
        made.close(() => resume(Effect.void))
        made.closeAllConnections()
      })
  )
  const double = new Collector(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  server.on("request", (incoming, outgoing) => answer(double, incoming, outgoing))
  return double
})

const answer = (double: Collector, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  const pieces: Array<Buffer> = []
  double.underWay++
  double.underWayMost = Math.max(double.underWayMost, double.underWay)
  outgoing.on("close", () => double.underWay--)
  incoming.on("data", (piece: Buffer) => pieces.push(piece))
  incoming.on("end", () => {
    const { manner } = double
    if (manner === "hangs") return
    if (manner === "trickles") {
      outgoing.writeHead(200, { "content-type": "application/json" })
      const timer = setInterval(() => outgoing.write(" ".repeat(1_024)), 5)
      outgoing.on("close", () => clearInterval(timer))
      return
    }
    if (manner === "takes") {
      const text = Buffer.concat(pieces).toString("utf8")
      double.posts.push({ path: incoming.url ?? "", headers: incoming.headers, text })
    }
    outgoing.writeHead(manner === "takes" ? 200 : manner, {
      "content-type": "application/json",
      ...double.answerHeaders
    })
    outgoing.end("{}")
  })
}

const all = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? (value as ReadonlyArray<Fields>) : [])

const fieldsOf = (attributes: unknown): Fields =>
  Object.fromEntries(all(attributes).map(({ key, value }) => [String(key), plain(value)]))

/** OTLP writes a value under the name of its kind; whole numbers may be text. */
const plain = (value: unknown): unknown => {
  const [[kind, held] = []] = Object.entries((value ?? {}) as Fields)
  if (kind === "arrayValue") return all((held as Fields)["values"]).map(plain)
  return kind === "intValue" ? Number(held) : held
}
