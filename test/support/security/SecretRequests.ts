/**
 * Every request that a service with secrets can get, during normal operation and failures, and all its responses. A
 * secret that a response hands out once to its owner is recorded as that response's own.
 */
import { Effect, type Schema } from "effect"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { everyEndpoint, keyFor, pathOf, type RoleKeys } from "../checks/EndpointTable.ts"
import { CONSUMERS, consumerBody, KEYS, PROVIDERS, providerBody, valueAt } from "../market/Market.ts"
import { LOAD, PROXY } from "../metering/Shop.ts"
import { aCanary, type Canaries } from "./Canaries.ts"
import type { aSecretService } from "./SecretService.ts"

type Running = Effect.Success<ReturnType<typeof aSecretService>>
type Json = Schema.Json | undefined

export interface Said {
  readonly asked: string
  readonly status: number
  /** Headers and body. */
  readonly text: string
  /** What this response alone may show. */
  readonly own: ReadonlyArray<string>
}

interface Asked {
  readonly method?: string
  readonly path: string
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
}

const DOCUMENTS = ["/metrics", "/docs", "/verify", "/api/openapi.json", "/nowhere"]
const AT_ONCE = 8
const VERIFY = "/api/v1/market/providers/verify"

export class SecretStory {
  readonly said: Array<Said> = []
  private readonly running: Running
  private readonly canaries: Canaries

  constructor(running: Running, canaries: Canaries) {
    this.running = running
    this.canaries = canaries
  }

  async tell(): Promise<void> {
    const { link, mail, provider, stripe } = this.running
    const { key: consumer } = await this.join(CONSUMERS, consumerBody())
    const { key: owner, toolId } = await this.join(
      PROVIDERS,
      providerBody({ endpoint_url: provider.url, tools: [{ tool_name: "echo" }] })
    )
    await this.keysOf(consumer)
    await this.askAll(consumer, owner)

    for (let n = 0; n < 4; n++) await this.ask({ path: PROXY, key: consumer, json: { tool_id: toolId, input: {} } })

    await this.ask({ path: VERIFY, key: owner, json: { level: "email" } })
    const [, token] = /"token": "([0-9a-f]+)"/u.exec(mail.letters.at(-1) ?? "") ?? []
    this.canaries.plant("the token of a mail", token ?? "no mail came")
    await this.ask({ path: VERIFY, key: owner, json: { level: "email", token: token!.replace(/.$/u, "x") } })
    mail.refusing = true
    const { key: another } = await this.join(PROVIDERS, providerBody({ email: "another@example.org" }))
    await this.ask({ path: VERIFY, key: another, json: { level: "email" } })
    await this.ask({ path: VERIFY, key: owner, json: { level: "code", repo_url: "https://github.com/owner/name" } })

    await this.ask({ path: LOAD, key: consumer, json: { amount_cents: 500 } })
    for (const kind of ["429", "500_before", "reset_before"] as const) {
      stripe.mishaps.push({ path: "/v1/checkout", kind }, { path: "/v2/core", kind })
      await this.ask({ path: LOAD, key: consumer, json: { amount_cents: 500 } })
      await this.ask({ path: "/api/market/connect", key: owner, json: {} })
    }
    stripe.mishaps.splice(0)
    await this.ask({ path: "/api/market/connect", key: owner, json: {} })
    await this.forged()

    await Effect.runPromise(link.cut)
    await this.askAll(consumer, owner)
    await Effect.runPromise(link.restore)
    await this.ask({ path: "/metrics" })
    await this.ask({ path: "/metrics", key: this.running.metricsToken })
  }

  /** Every endpoint with a key that it accepts, with secrets where none belongs, and with an invalid body. */
  private async askAll(consumer: string, provider: string): Promise<void> {
    const keys = { consumer, provider, operator: this.running.operator }
    const waiting = everyEndpoint().map((endpoint) => () => this.askOne(endpoint, keys))
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    for (const path of DOCUMENTS) await this.ask({ path })
  }

  private async askOne(endpoint: EndpointInfo, keys: RoleKeys): Promise<void> {
    const { method, payload } = endpoint
    const key = keyFor(endpoint, keys)
    const asked = { method, path: pathOf(endpoint), ...(payload === undefined ? {} : { json: { token: 7 } }) }
    // It would revoke the key that is used here.
    if (asked.path !== `${KEYS}/rotate`) await this.ask({ ...asked, key })
    const stray = this.canaries.plant(`something that ${method} ${endpoint.path} was sent`, aCanary())
    for (const headers of straysOf(stray)) await this.ask({ ...asked, headers })
    await this.ask({ ...asked, key, path: `${asked.path}?api_key=${stray}&token=${stray}` })
  }

  private async join(path: string, body: object) {
    const answer = await this.ask({ path, json: body, headers: { "idempotency-key": aCanary() } })
    return { key: String(valueAt(answer, "api_key")), toolId: valueAt(answer, "tools", 0, "id") }
  }

  private async keysOf(key: string): Promise<void> {
    await this.ask({ path: KEYS, key, json: { label: "another" } })
    await this.ask({ path: `${KEYS}/rotate`, key, json: { grace_seconds: 3_600 } })
    await this.ask({ path: KEYS, key })
  }

  private async forged(): Promise<void> {
    const forged = this.canaries.plant("a forged signature", aCanary())
    const headers = { "stripe-signature": `t=${Math.floor(Date.now() / 1_000)},v1=${forged}` }
    await this.ask({ path: "/api/webhooks/stripe", headers, json: { type: "checkout.session.completed" } })
  }

  private async ask({ headers, json, key, method, path }: Asked): Promise<Json> {
    const verb = method ?? (json === undefined ? "GET" : "POST")
    const response = await fetch(this.running.service.url + path, {
      method: verb,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
    const text = await response.text()
    const body = (response.headers.get("content-type") ?? "").includes("json") ? (JSON.parse(text) as Json) : undefined
    this.said.push({
      asked: `${verb} ${path.split("?")[0]}`,
      status: response.status,
      text: `${JSON.stringify([...response.headers])}\n${text}`,
      own: this.handedOut(body)
    })
    return body
  }

  private handedOut(body: Json): ReadonlyArray<string> {
    const key = valueAt(body, "api_key")
    if (typeof key === "string") return [this.canaries.plant("a key of an account", key)]
    const token = /[0-9a-f]{64}/u.exec(String(valueAt(body, "challenge", "record_value")))?.[0]
    return token === undefined ? [] : [this.canaries.plant("the token of a challenge", token)]
  }
}

const straysOf = (stray: string): ReadonlyArray<Readonly<Record<string, string>>> => [
  { authorization: `Bearer ${stray}` },
  { authorization: `Bearer atb_c_${stray}` },
  { authorization: `Basic ${Buffer.from(`user:${stray}`).toString("base64")}` },
  {
    "x-api-key": stray,
    cookie: `session=${stray}`,
    traceparent: `00-${stray}-00f067aa0ba902b7-01`,
    tracestate: `vendor=${stray}`,
    baggage: `token=${stray}`,
    "proxy-authorization": `Bearer ${stray}`,
    "stripe-signature": stray
  }
]
