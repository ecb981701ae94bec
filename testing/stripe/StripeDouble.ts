/**
 * A double of Stripe: an HTTP server on loopback that the real stripe package talks to. It has never been compared
 * with Stripe itself beyond the package's types and Stripe's documentation.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { endpoints } from "./Endpoints.ts"
import { parseForm } from "./FormBody.ts"
import {
  chooseOnboarding,
  choosePayment,
  dispute,
  onboardingPage,
  openDispute,
  type PaymentChoice,
  paymentPage
} from "./Pages.ts"
import { StripeRefusal } from "./Refusal.ts"
import { State } from "./State.ts"
import { Webhooks } from "./Webhooks.ts"

/** What happens to a request whose path has this prefix. `after`: the work is done, and the response is an error. */
export interface Mishap {
  readonly path: string
  readonly kind:
    | "429"
    | "500_before"
    | "500_after"
    | "reset_before"
    | "reset_after"
    | "die_after"
    | "hang_before"
    | "hang_after"
}

/** The keys that the double accepts, and what the processor charges. */
export interface DoubleOptions {
  readonly secretKey: string
  readonly webhookSecret: string
  /** The account of the key: `acct_double` by default. */
  readonly accountId?: string
  /** What it keeps of a payment, and charges for a dispute; nothing by default. */
  readonly feeOf?: (amountCents: number) => number
  readonly disputeFeeCents?: number
  readonly webhookUrl?: string
  readonly stateFile?: string
  readonly port?: number
}

export class StripeDouble {
  readonly state: State
  readonly webhooks: Webhooks
  readonly mishaps: Array<Mishap> = []
  readonly requests: Array<string> = []
  private readonly server: Server
  private readonly options: DoubleOptions

  private constructor(options: DoubleOptions) {
    this.options = options
    this.state = new State(options.stateFile)
    this.state.feeOf = options.feeOf ?? (() => 0)
    this.state.disputeFeeCents = options.disputeFeeCents ?? 0
    this.webhooks = new Webhooks(this.state, options.webhookSecret, options.webhookUrl)
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(JSON.stringify({ error: { type: "api_error", message: String(error) } }))
      })
    })
  }

  static start(options: DoubleOptions): Promise<StripeDouble> {
    const double = new StripeDouble(options)
    return new Promise((resolve, reject) => {
      double.server.once("error", reject)
      double.server.listen(options.port ?? 0, "127.0.0.1", () => resolve(double))
    })
  }

  get url(): string {
    const address = this.server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }

  stop(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }

  pay(sessionId: string, choice: PaymentChoice = "pay"): void {
    choosePayment(this.state, this.webhooks, sessionId, choice)
  }

  /** The payer disputes the payment at the bank. */
  openDispute(paymentId: string): void {
    openDispute(this.state, this.webhooks, paymentId)
  }

  /** `won` undefined: the bank takes the money; true: it returns it; false: it keeps it. */
  dispute(paymentId: string, won?: boolean): void {
    dispute(this.state, this.webhooks, paymentId, won)
  }

  /** A refund that was made turns out to be undeliverable. */
  failRefund(refundId: string): void {
    const refund = this.state.refunds.get(refundId)
    if (refund === undefined) throw new Error(`There is no refund ${refundId}`)
    refund.status = "failed"
    this.webhooks.snapshot("refund.failed", refund)
    this.state.save()
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url)
    const text = await bodyOf(request)
    this.requests.push(`${request.method} ${url.pathname}`)
    if (url.pathname.startsWith("/pay/") || url.pathname.startsWith("/onboard/")) {
      return this.show(request.method ?? "GET", url, text, response)
    }
    const mishap = this.mishapFor(url.pathname)
    if (mishap === "hang_before") return
    if (mishap === "reset_before") return void request.socket.destroy()
    if (mishap === "429") return send(response, new StripeRefusal(429, "rate_limit_error", "Too many requests"))
    if (mishap === "500_before") return this.failed(request, url, text, response)
    const { body, status } = this.perform(request, url, text)
    if (mishap === "hang_after") return
    if (mishap === "die_after") process.exit(137)
    if (mishap === "reset_after") return void request.socket.destroy()
    if (mishap === "500_after") return this.failed(request, url, text, response)
    const headers = { "content-type": "application/json", "request-id": this.state.id("req") }
    response.writeHead(status, headers).end(body)
  }

  /** Stripe stores a 500 under its key, and returns it again. */
  private failed(request: IncomingMessage, url: URL, text: string, response: ServerResponse): void {
    const refusal = new StripeRefusal(500, "api_error", "An unknown error occurred")
    const key = request.headers["idempotency-key"]
    if (typeof key === "string") {
      const fingerprint = `${request.method} ${url.pathname}\n${text}`
      this.state.idempotency.set(key, { status: 500, body: refusal.body, fingerprint })
      this.state.save()
    }
    send(response, refusal)
  }

  private perform(request: IncomingMessage, url: URL, text: string): { status: number; body: string } {
    try {
      this.authenticate(request)
      const key = request.headers["idempotency-key"]
      const fingerprint = `${request.method} ${url.pathname}\n${text}`
      const kept = typeof key === "string" && request.method === "POST" ? this.state.idempotency.get(key) : undefined
      if (kept !== undefined) {
        if (kept.fingerprint === fingerprint) return kept
        const message =
          "Keys for idempotent requests can only be used with the same parameters they were first used with."
        throw new StripeRefusal(400, "idempotency_error", message)
      }
      const answer = { status: 200, body: JSON.stringify(this.route(request, url, text)), fingerprint }
      if (typeof key === "string" && request.method === "POST") this.state.idempotency.set(key, answer)
      this.state.save()
      return answer
    } catch (error) {
      if (error instanceof StripeRefusal) return error
      throw error
    }
  }

  private route(request: IncomingMessage, url: URL, text: string): unknown {
    for (const [method, pattern, work] of endpoints) {
      const match = method === request.method ? pattern.exec(url.pathname) : null
      if (match === null) continue
      const body = url.pathname.startsWith("/v2/") ? (text === "" ? {} : JSON.parse(text)) : parseForm(text)
      const { state, webhooks } = this
      const accountId = this.options.accountId ?? "acct_double"
      return work({ state, webhooks, accountId, origin: this.url, ids: match.slice(1), query: url.searchParams, body })
    }
    throw new StripeRefusal(
      404,
      "invalid_request_error",
      `Unrecognized request URL (${request.method}: ${url.pathname})`
    )
  }

  private authenticate(request: IncomingMessage): void {
    if (request.headers.authorization === `Bearer ${this.options.secretKey}`) return
    throw new StripeRefusal(401, "invalid_request_error", "Invalid API Key provided")
  }

  private mishapFor(path: string): Mishap["kind"] | undefined {
    const place = this.mishaps.findIndex((mishap) => path.startsWith(mishap.path))
    return place === -1 ? undefined : this.mishaps.splice(place, 1)[0]!.kind
  }

  private show(method: string, url: URL, text: string, response: ServerResponse): void {
    const [, kind, id = ""] = url.pathname.split("/")
    const choice = new URLSearchParams(text).get("do") ?? ""
    if (method !== "POST") {
      const html = kind === "pay" ? paymentPage(this.state.sessions.get(id)!) : onboardingPage(id)
      return void response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html)
    }
    const next =
      kind === "pay"
        ? choosePayment(this.state, this.webhooks, id, choice as PaymentChoice).success_url
        : chooseOnboarding(this.state, this.webhooks, id, choice === "complete")
    response.writeHead(303, { location: next ?? "/" }).end()
  }
}

const send = (response: ServerResponse, refusal: StripeRefusal): void =>
  void response.writeHead(refusal.status, { "content-type": "application/json" }).end(refusal.body)

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}
