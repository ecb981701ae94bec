/**
 * The pages on which a person pays, or completes an account.
 */
import { type Dispute, nowSeconds, type Session, type State } from "./State.ts"
import type { Webhooks } from "./Webhooks.ts"

const page = (title: string, action: string, choices: ReadonlyArray<readonly [string, string]>): string =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>A double: no money moves here.</p>
<form method="post" action="${action}">${choices
    .map(([value, label]) => `<button name="do" value="${value}">${label}</button>`)
    .join(" ")}</form>`

export const paymentPage = (session: Session): string =>
  page(`Pay ${((session.amount_total ?? 0) / 100).toFixed(2)} ${session.currency}`, `/pay/${session.id}`, [
    ["pay", "Pay"],
    ["decline", "Card declined"],
    ["later", "Pay by bank, later"]
  ])

export const onboardingPage = (token: string): string =>
  page("Complete your account", `/onboard/${token}`, [
    ["complete", "Everything is filled in"],
    ["leave", "Leave something due"]
  ])

const paymentOf = (state: State, session: Session, status: "succeeded" | "processing") => {
  const id = session.payment_intent ?? state.id("pi")
  const metadata = Object.fromEntries(
    Object.entries(session.metadata ?? {})
      .filter(([name]) => name.startsWith("payment:"))
      .map(([name, value]) => [name.slice("payment:".length), value])
  )
  const amount = session.amount_total ?? 0
  const created = nowSeconds()
  const currency = session.currency ?? "usd"
  state.payments.set(id, { id, object: "payment_intent", amount, created, currency, livemode: false, metadata, status })
  session.payment_intent = id
}

export type PaymentChoice = "pay" | "decline" | "later" | "later_succeeds" | "later_fails"

/** The payer's choice. A declined card leaves the session open. */
export const choosePayment = (state: State, webhooks: Webhooks, id: string, choice: PaymentChoice): Session => {
  const session = state.sessions.get(id)
  if (session === undefined) throw new Error(`There is no session ${id}`)
  // The double may have been restarted, or another service may have opened a checkout since.
  webhooks.learnFrom(session.success_url)
  switch (choice) {
    case "pay":
    case "later":
      if (session.status !== "open") break
      session.status = "complete"
      session.payment_status = choice === "pay" ? "paid" : "unpaid"
      paymentOf(state, session, choice === "pay" ? "succeeded" : "processing")
      webhooks.snapshot("checkout.session.completed", { ...session })
      break
    case "later_succeeds":
      session.payment_status = "paid"
      paymentOf(state, session, "succeeded")
      webhooks.snapshot("checkout.session.async_payment_succeeded", { ...session })
      break
    case "later_fails":
      webhooks.snapshot("checkout.session.async_payment_failed", { ...session })
      break
    case "decline":
      break
  }
  state.save()
  return session
}

export const chooseOnboarding = (state: State, webhooks: Webhooks, token: string, complete: boolean): string => {
  const link = state.links.get(token)
  const account = state.accounts.get(link?.account ?? "")
  if (link === undefined || account === undefined) throw new Error(`There is no link ${token}`)
  state.links.delete(token)
  account.complete = complete
  account.due = complete ? [] : ["external_account"]
  state.save()
  for (const part of ["requirements", "configuration.recipient"]) {
    webhooks.thin(`v2.core.account[${part}].updated`, "v2.core.account", account.id)
  }
  return link.returnUrl
}

const disputeOf = (state: State, paymentId: string): Dispute => {
  const payment = state.payments.get(paymentId)
  if (payment === undefined) throw new Error(`There is no payment ${paymentId}`)
  const known = [...state.disputes.values()].find((one) => one.payment_intent === paymentId)
  const object: Dispute = known ?? {
    id: state.id("dp"),
    object: "dispute",
    amount: payment.amount,
    balance_transactions: [],
    created: nowSeconds(),
    currency: payment.currency,
    livemode: false,
    reason: "fraudulent",
    status: "needs_response",
    payment_intent: paymentId
  }
  state.disputes.set(object.id, object)
  return object
}

export const openDispute = (state: State, webhooks: Webhooks, paymentId: string): void => {
  webhooks.snapshot("charge.dispute.created", disputeOf(state, paymentId))
  state.save()
}

export const dispute = (state: State, webhooks: Webhooks, paymentId: string, won: boolean | undefined): void => {
  const object = disputeOf(state, paymentId)
  if (won === undefined) {
    const fee = { id: state.id("txn"), fee: state.disputeFeeCents }
    object.balance_transactions = [...object.balance_transactions, fee]
    webhooks.snapshot("charge.dispute.funds_withdrawn", object)
  } else {
    object.status = won ? "won" : "lost"
    if (won) webhooks.snapshot("charge.dispute.funds_reinstated", object)
    webhooks.snapshot("charge.dispute.closed", object)
  }
  state.save()
}
