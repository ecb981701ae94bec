/**
 * The state of the double. Objects have the fields of the stripe package's own types that are used here, so that a
 * version which renames one breaks the build. With a file, a double that was killed continues.
 */
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { Stripe } from "stripe"

export type Session = Pick<
  Stripe.Checkout.Session,
  | "id"
  | "object"
  | "amount_total"
  | "cancel_url"
  | "client_reference_id"
  | "created"
  | "currency"
  | "expires_at"
  | "livemode"
  | "metadata"
  | "mode"
  | "payment_status"
  | "status"
  | "success_url"
  | "url"
> & { payment_intent: string | null }
export type Payment = Pick<
  Stripe.PaymentIntent,
  "id" | "object" | "amount" | "created" | "currency" | "livemode" | "metadata" | "status"
>
export type Refund = Pick<
  Stripe.Refund,
  "id" | "object" | "amount" | "created" | "currency" | "metadata" | "status"
> & {
  payment_intent: string
}
export type Dispute = Pick<
  Stripe.Dispute,
  "id" | "object" | "amount" | "created" | "currency" | "livemode" | "reason" | "status"
> & {
  payment_intent: string
  balance_transactions: ReadonlyArray<{ readonly id: string; readonly fee: number }>
}
export type Transfer = Pick<
  Stripe.Transfer,
  | "id"
  | "object"
  | "amount"
  | "amount_reversed"
  | "created"
  | "currency"
  | "livemode"
  | "metadata"
  | "reversed"
  | "transfer_group"
> & { destination: string }
export type Account = Pick<
  Stripe.V2.Core.Account,
  "id" | "object" | "applied_configurations" | "created" | "display_name" | "livemode" | "metadata"
> & { contact_email: string; complete: boolean; due: Array<string> }
export interface Kept {
  readonly status: number
  readonly body: string
  readonly fingerprint: string
}

export class State {
  readonly sessions = new Map<string, Session>()
  readonly payments = new Map<string, Payment>()
  readonly refunds = new Map<string, Refund>()
  readonly disputes = new Map<string, Dispute>()
  readonly transfers = new Map<string, Transfer>()
  readonly accounts = new Map<string, Account>()
  readonly links = new Map<string, { readonly account: string; readonly returnUrl: string }>()
  readonly idempotency = new Map<string, Kept>()
  feeOf: (amountCents: number) => number = () => 0
  disputeFeeCents = 0
  private count = 0
  /** Two doubles never create the same id. */
  private readonly name = randomBytes(4).toString("hex")
  private readonly file: string | undefined

  constructor(file?: string) {
    this.file = file
    if (file === undefined || !existsSync(file)) return
    const saved = JSON.parse(readFileSync(file, "utf8")) as Record<string, ReadonlyArray<readonly [string, never]>>
    for (const [name, map] of this.maps()) for (const [key, value] of saved[name] ?? []) map.set(key, value)
    this.count = Number(saved["count"] ?? 0)
  }

  id(prefix: string): string {
    return `${prefix}_${this.name}${(++this.count).toString().padStart(8, "0")}`
  }

  save(): void {
    if (this.file === undefined) return
    const all = Object.fromEntries(this.maps().map(([name, map]) => [name, [...map]]))
    writeFileSync(this.file, JSON.stringify({ ...all, count: this.count }))
  }

  private maps(): ReadonlyArray<readonly [string, Map<string, never>]> {
    const { accounts, disputes, idempotency, links, payments, refunds, sessions, transfers } = this
    const named = { accounts, disputes, idempotency, links, payments, refunds, sessions, transfers }
    return Object.entries(named) as unknown as ReadonlyArray<readonly [string, Map<string, never>]>
  }
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000)
