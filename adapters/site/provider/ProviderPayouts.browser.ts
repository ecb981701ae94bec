/**
 * The provider's balance, payouts, and account at the payment processor.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { badge, type Child, el, empty, facts, figures, notice, on } from "../kit/Dom.browser.ts"
import { dateTime, day, money } from "../kit/Format.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { Connection, ConnectResponse, PayoutResponse, Payouts } from "../kit/ApiResponses.browser.ts"
import { table } from "../kit/Table.browser.ts"

const PAYOUTS = "/api/market/payouts"
export const CONNECT = "/api/market/connect"

const api = accountApi("provider")

/** Of `minimum_payout`, which is formatted in dollars. */
const centsOf = (text: string): number => Math.round(Number(text.replace(/[$,]/gu, "")) * 100)
const dollars = (cents: number): string => money(cents * 10_000)

export const payoutsPanel = (): Panel => {
  const status = statusArea()
  const accountStatus = statusArea()
  return panel("payouts", "Payouts", async (reload) => {
    const [payouts, connection] = await Promise.all([api.get<Payouts>(PAYOUTS), api.get<Connection>(CONNECT)])
    const last = payouts.history.find((one) => one.status === "paid")
    const isNew = payouts.pending_balance_cents === 0 && last === undefined
    return [
      isNew
        ? empty(`No earnings yet. The minimum payout is ${payouts.minimum_payout}.`)
        : figures([
            ["Available for payout", dollars(payouts.available_cents), `minimum ${payouts.minimum_payout}`],
            ["Maturing", dollars(payouts.maturing_cents), nextMaturity(payouts)],
            ...unavailable(payouts),
            last === undefined
              ? ["Last payout", "None"]
              : ["Last payout", dollars(last.amount_cents), day(last.paid_at ?? last.created_at)]
          ]),
      status,
      ...(isNew ? [] : [payoutAction(payouts, status, reload)]),
      automaticSwitch(payouts, status),
      el("h3", "Payout account"),
      ...accountOf(connection, accountStatus),
      accountStatus,
      ...(payouts.history.length === 0 ? [] : [el("h3", "Payout history"), history(payouts)])
    ]
  })
}

const payoutAction = (payouts: Payouts, status: HTMLElement, reload: () => Promise<void>): Node => {
  const available = payouts.available_cents
  const missing = centsOf(payouts.minimum_payout) - available
  if (missing > 0) {
    return notice(
      "",
      payouts.owed_cents > 0
        ? `You owe ${dollars(payouts.owed_cents)} for refunds. Your next earnings pay it first.`
        : `You need ${dollars(missing)} more for a payout.`
    )
  }
  const pay = actionButton({
    label: `Pay out ${dollars(available)}`,
    status,
    confirm: {
      title: `Pay out ${dollars(available)}?`,
      text: ["The full available amount is transferred to your payout account."],
      action: "Pay out"
    },
    run: async (idempotencyKey) => {
      const payout = await api.post<PayoutResponse>(PAYOUTS, {}, idempotencyKey)
      await reload()
      return payout.mode === "live" && payout.status === "failed" ? notice("bad", payout.message) : payout.message
    }
  })
  return el("div", { class: "actions" }, pay)
}

const nextMaturity = ({ maturities }: Payouts): string => {
  const next = maturities.find(({ from }) => from === "maturing")
  return next === undefined ? "" : `${dollars(next.amount_cents)} available on ${next.available_on}`
}

const unavailable = (payouts: Payouts): ReadonlyArray<readonly [string, string, string?]> =>
  (
    [
      ["Reserved", payouts.reserved_cents, "rolling reserve"],
      ["Frozen", payouts.frozen_cents, "until disputes are decided"],
      ["Owed for refunds", payouts.owed_cents, "paid from your next earnings"]
    ] as const
  ).flatMap(([name, cents, note]) => (cents > 0 ? [[name, dollars(cents), note] as const] : []))

const automaticSwitch = (payouts: Payouts, status: HTMLElement): HTMLElement => {
  const box = el("input", { id: "automatic", type: "checkbox", role: "switch", checked: payouts.automatic })
  const save = actionButton({
    label: "",
    status,
    run: async (idempotencyKey) => {
      const enabled = box.checked
      box.disabled = true
      try {
        // Another setting is another request.
        await api.post(`${PAYOUTS}/automatic`, { enabled }, `${idempotencyKey}-${enabled}`)
      } catch (error) {
        box.checked = !enabled
        throw error
      } finally {
        box.disabled = false
        box.focus()
      }
      return enabled
        ? `Automatic payouts are on: monthly, from ${payouts.minimum_payout}.`
        : "Automatic payouts are off. Request payouts here."
    }
  })
  on(box, { change: () => save.click() })
  return el("p", el("label", { for: "automatic" }, box, "Pay out automatically on the first days of each month (UTC)"))
}

const CONNECTION_STATUSES = {
  not_started: ["Not set up", "", "The payment processor must verify your identity before it can pay you."],
  pending: ["Pending", "info", "The payment processor is reviewing your account or needs more information."],
  complete: ["Complete", "good", "Payouts are enabled."],
  restricted: ["Restricted", "bad", "Payouts are disabled until you provide the required information."]
} as const

const accountOf = (connection: Connection, status: HTMLElement): ReadonlyArray<Node> => {
  const { requirements, stripe_account_id: accountId } = connection
  const [label, style, meaning] = CONNECTION_STATUSES[connection.status]
  const list = (all: ReadonlyArray<string>): Child =>
    all.length === 0 ? undefined : all.map((one) => el("div", requirementLabel(one)))
  const open = actionButton({
    label: connection.status === "not_started" ? "Set up payouts" : "Update payout account",
    style: connection.status === "complete" ? "plain" : "",
    status,
    run: async (idempotencyKey) => {
      const { url } = await api.post<ConnectResponse>(CONNECT, {}, idempotencyKey)
      if (!/^https?:/u.test(url)) throw new Error(`The payment processor returned an invalid URL: ${url}`)
      location.assign(url)
      return "Opening the payment processor…"
    }
  })
  return [
    el("p", badge(label, style), " ", meaning),
    facts([
      ["Account ID", accountId === null ? undefined : el("code", accountId)],
      ["Required now", list(requirements.currently_due)],
      ["Required later", list(requirements.eventually_due)],
      ["Errors", list(requirements.errors)]
    ]),
    el("div", { class: "actions" }, open)
  ]
}

/** Formats names of the processor such as `individual.dob.day`. */
const requirementLabel = (name: string): string => {
  if (!/^[\w.]+$/u.test(name)) return name
  const words = name.replaceAll("_", " ").replaceAll(".", ": ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const PAYOUT_STATUSES = {
  requested: ["Requested", "info"],
  transferring: ["In transit", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed", "bad"],
  reversed: ["Reversed", "bad"]
} as const

const history = (payouts: Payouts): HTMLElement =>
  table(
    "Payout history",
    [
      { name: "Requested", cell: (one: Payouts["history"][number]) => dateTime(one.created_at) },
      { name: "Amount", cell: (one) => dollars(one.amount_cents), isNumber: true },
      { name: "Status", cell: ({ status }) => badge(PAYOUT_STATUSES[status][0], PAYOUT_STATUSES[status][1]) },
      { name: "Paid", cell: (one) => (one.paid_at === null ? "–" : dateTime(one.paid_at)) },
      {
        name: "Transfer",
        cell: (one) => one.failure ?? (one.stripe_transfer_id === null ? "–" : el("code", one.stripe_transfer_id))
      }
    ],
    payouts.history
  )
