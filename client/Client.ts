/**
 * A client of the HTTP API for programs without Effect: promises, no dependencies, types of the contract. Runs in Node 20,
 * browsers and workers.
 */
import { type Operations, ROUTES } from "./Contract.ts"
import { type ProblemCode, ProblemError, type ProblemErrorOf } from "./Problem.ts"
import { makeSend, type Progress, type SendOptions } from "./Send.ts"

/** Which service to call, with which key, and how long to wait and retry. */
export interface ClientOptions extends SendOptions {
  /** For example `https://market.example.com`. A path is kept: `https://app.example.com/billing`. */
  readonly baseUrl: string
}

/** Options of a single request. */
export interface RequestOptions {
  /** Makes a request safe to retry. The client makes one for each request that takes one, and reuses it in its retries. */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Another media type of the answer, such as `text/plain` of a proof: the result is then a string, or a Blob. */
  readonly accept?: string | undefined
  /** Called for each progress event of a proxied call. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

interface Shape {
  readonly params?: object
  readonly query?: object
  readonly payload?: object
  readonly success: unknown
  /** The codes that the operation declares. */
  readonly problem: ProblemCode
}

/** A payload of which every field is optional is optional. */
type Input<Op extends Shape> = RequestOptions &
  Omit<Op, "success" | "problem" | "payload"> &
  (Op extends { readonly payload: infer Payload }
    ? Record<never, never> extends Payload
      ? { readonly payload?: Payload }
      : { readonly payload: Payload }
    : unknown)

type Arguments<Op extends Shape> = Record<never, never> extends Input<Op> ? [input?: Input<Op>] : [input: Input<Op>]

type Operation<Op extends Shape> = ((...given: Arguments<Op>) => Promise<Op["success"]>) & {
  /** Tells whether it is a `ProblemError`. Pass an error of this operation: it is narrowed to the codes declared for it. */
  isProblem(error: unknown): error is ProblemErrorOf<Op["problem"]>
} & (Op["success"] extends { next_cursor: string | null }
    ? {
        /** Every page from the first on. */
        pages(...given: Arguments<Op>): AsyncGenerator<Op["success"], void>
      }
    : unknown)

/** The groups and names of the OpenAPI document's operation ids, as in Effect's `HttpApiClient`. */
export type Client = {
  readonly [Group in keyof Operations]: {
    readonly [Name in keyof Operations[Group]]: Operations[Group][Name] extends Shape
      ? Operation<Operations[Group][Name]>
      : never
  }
}

type Given = RequestOptions & Partial<Record<"params" | "query" | "payload", Readonly<Record<string, unknown>>>>

/** Makes a client of the service at `baseUrl`. Without a key only public operations succeed. */
export const createClient = ({ baseUrl, ...options }: ClientOptions): Client => {
  const send = makeSend(options)
  const base = baseUrl.replace(/\/+$/u, "")

  const operation = (route: string) => {
    const [verb = "", path = ""] = route.split(" ")
    const template = path.startsWith("/") ? path : `/api/${path.replace("~", "v1/market/")}`
    const run = async (given: Given = {}): Promise<unknown> =>
      send(
        {
          method: verb.replace("*", ""),
          url: base + filled(template, given.params) + queryOf(given.query),
          payload: given.payload,
          takesKey: verb.endsWith("*")
        },
        given
      )
    return Object.assign(run, {
      pages: (given?: Given) => pages(run, given),
      isProblem: (error: unknown) => error instanceof ProblemError
    })
  }

  return Object.fromEntries(
    Object.entries(ROUTES).map(([group, routes]) => [
      group,
      Object.fromEntries(Object.entries(routes).map(([name, route]) => [name, operation(route)]))
    ])
  ) as unknown as Client
}

async function* pages(run: (given: Given) => Promise<unknown>, given: Given = {}): AsyncGenerator<unknown, void> {
  let { query } = given
  for (;;) {
    const page = (await run({ ...given, ...(query === undefined ? {} : { query }) })) as {
      readonly next_cursor: string | null
    }
    yield page
    const { cursor: last, offset: _, ...filter } = query ?? {}
    if (page.next_cursor === null || page.next_cursor === last) return
    query = { ...filter, cursor: page.next_cursor }
  }
}

const filled = (template: string, params: Readonly<Record<string, unknown>> = {}): string =>
  template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const value = String(params[name] ?? "")
    if (/^\.{0,2}$/u.test(value)) throw new TypeError(`\`params.${name}\` is required; "${value}" was given.`)
    return encodeURIComponent(value)
  })

const queryOf = (query: Readonly<Record<string, unknown>> = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
