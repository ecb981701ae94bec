/**
 * The double's webhooks: signed by the stripe package itself, sent until they are accepted, or held, dropped, doubled
 * and reordered by a test.
 */
import { Stripe } from "stripe"
import type { State } from "./State.ts"

export interface Event {
  readonly id: string
  readonly type: string
  readonly body: string
}

const ATTEMPTS_MAX = 6
const signing = new Stripe("sk_test_signs_only")

export class Webhooks {
  readonly sent: Array<Event> = []
  readonly held: Array<Event> = []
  /** While true, nothing is sent automatically. */
  holding = false
  dropNext = 0
  copies = 1
  private readonly state: State
  /** Called for every delivery, and for those that were given up. */
  say: (line: string) => void = () => {}
  private readonly secret: string
  private url: string | undefined

  constructor(state: State, secret: string, url: string | undefined) {
    this.state = state
    this.secret = secret
    this.url = url
  }

  /** Sends to the service that opened a checkout or an onboarding here: its return URL names its address. */
  followReturns = false

  learnFrom(returnUrl: unknown): void {
    const origin = typeof returnUrl === "string" ? URL.parse(returnUrl)?.origin : undefined
    const url = `${origin}/api/webhooks/stripe`
    if (!this.followReturns || origin === undefined || url === this.url) return
    this.url = url
    this.say(`Webhooks go to ${url}.`)
  }

  goTo(url: string): void {
    this.url = url
  }

  snapshot(type: string, object: unknown): void {
    const id = this.state.id("evt")
    const created = Math.floor(Date.now() / 1_000)
    const event = { id, object: "event", api_version: Stripe.API_VERSION, created, livemode: false, type }
    this.emit({ id, type, body: JSON.stringify({ ...event, pending_webhooks: 1, data: { object } }) })
  }

  thin(type: string, relatedType: string, relatedId: string): void {
    const id = this.state.id("evt")
    const related_object = { id: relatedId, type: relatedType, url: `/v2/core/accounts/${relatedId}` }
    const created = new Date().toISOString()
    this.emit({
      id,
      type,
      body: JSON.stringify({ id, object: "v2.core.event", type, created, livemode: false, related_object })
    })
  }

  /** All held events, in this order (by index); all of them by default. */
  async release(order?: ReadonlyArray<number>): Promise<void> {
    const held = this.held.splice(0)
    for (const place of order ?? held.keys()) await this.deliver(held[place]!)
  }

  /** One attempt; returns the service's status. */
  async deliver(event: Event): Promise<number> {
    if (this.url === undefined) return 0
    const header = this.signatureOf(event)
    const response = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": header },
      body: event.body
    })
    await response.arrayBuffer()
    return response.status
  }

  signatureOf(event: Event): string {
    return signing.webhooks.generateTestHeaderString({ payload: event.body, secret: this.secret })
  }

  private emit(event: Event): void {
    this.sent.push(event)
    if (this.dropNext > 0) return void this.dropNext--
    for (let copy = 0; copy < this.copies; copy++) {
      if (this.holding) this.held.push(event)
      else void this.insist(event)
    }
  }

  private async insist(event: Event): Promise<void> {
    if (this.url === undefined) {
      return this.say(`Cannot deliver ${event.type}: no service has opened a checkout here yet.${SET_URL}`)
    }
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const status = await this.deliver(event).catch(() => 0)
      if (status >= 200 && status < 300) return this.say(`Delivered ${event.type} to ${this.url}.`)
      const why = status === 0 ? "nothing answers there" : `it answered ${status}`
      this.say(`Cannot deliver ${event.type} to ${this.url}: ${why}.${hintOf(status)}`)
      await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt).unref())
    }
    this.say(`Gave up on ${event.type} after ${ATTEMPTS_MAX} attempts.`)
  }
}

const SET_URL = " Set WEBHOOK_URL to the address of your service, with the path /api/webhooks/stripe."

/** No server there, or another one than the service. */
const hintOf = (status: number): string =>
  status === 400 || status === 401
    ? " Start the service with the STRIPE_WEBHOOK_SECRET of this double."
    : status >= 500
      ? ""
      : SET_URL
