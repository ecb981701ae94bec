/**
 * The provider's balance and its way out: the account at the payment processor, the payout on demand and every month,
 * and what was paid.
 */
import type { Connected, Connection, PayoutAnswer, Payouts } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { confirmed } from "../kit/Confirm.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { badge, type Child, el, empty, figures, notice, on } from "../kit/Dom.browser.ts"
import { day, money, moment } from "../kit/Figures.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"
import { table } from "../kit/Table.browser.ts"

const PAYOUTS = "/api/market/payouts"
const CONNECT = "/api/market/connect"
/** As `minimum_payout` says it. */
const centsOf = (dollars: string): number => Math.round(Number(dollars.replace(/[$,]/gu, "")) * 100)
const dollars = (cents: number): string => money(cents * 10_000)

export const payouts = (): Panel => {
  const said = saying()
  const saidOfAccount = saying()
  return panel("payouts", "Payouts", async (reload) => {
    const key = keyOf("provider")
    const [state, connection] = await Promise.all([
      ask<Payouts>("GET", PAYOUTS, { key }),
      ask<Connection>("GET", CONNECT, { key })
    ])
    const last = state.history.find(({ status }) => status === "paid")
    const isNew = state.pending_balance_cents === 0 && last === undefined
    return [
      isNew
        ? empty(`Nothing to pay out yet. From ${state.minimum_payout} on you can have what your tools earned.`)
        : figures([
            ["Available", dollars(state.available_cents), `payouts from ${state.minimum_payout}`],
            ["Maturing", dollars(state.maturing_cents), nextMaturity(state)],
            ...waiting(state),
            last === undefined
              ? ["Last payout", "None yet"]
              : ["Last payout", dollars(last.amount_cents), day(last.paid_at ?? last.created_at)]
          ]),
      said,
      ...(isNew ? [] : asking(state, said, reload)),
      automatic(state, said),
      el("h3", {}, "Your account at the payment processor"),
      ...standing(connection, saidOfAccount),
      saidOfAccount,
      ...(state.history.length === 0 ? [] : [el("h3", {}, "History"), history(state)])
    ]
  })
}

const asking = (state: Payouts, said: HTMLElement, reload: () => Promise<void>): ReadonlyArray<Node> => {
  const available = state.available_cents
  const missing = centsOf(state.minimum_payout) - available
  if (missing > 0) {
    return [
      notice(
        "",
        state.owed_cents > 0
          ? `You owe ${dollars(state.owed_cents)} for refunds. Your next earnings pay it first.`
          : `You need ${dollars(missing)} more available for a payout.`
      )
    ]
  }
  return [
    el(
      "div",
      { class: "actions" },
      deed(`Pay out ${dollars(available)}`, said, async (idempotencyKey) => {
        const agreed = await confirmed({
          title: `Pay out ${dollars(available)}?`,
          text: [el("p", {}, "All available cents go to your account at the payment processor.")],
          yes: "Pay it out"
        })
        if (!agreed) return undefined
        const key = keyOf("provider")
        const answer = await ask<PayoutAnswer>("POST", PAYOUTS, { key, idempotencyKey, body: {} })
        await reload()
        return answer.mode === "live" && answer.status === "failed" ? notice("bad", answer.message) : answer.message
      })
    )
  ]
}

const nextMaturity = ({ maturities }: Payouts): string => {
  const next = maturities.find(({ from }) => from === "maturing")
  return next === undefined
    ? "earnings wait before they can be paid out"
    : `${dollars(next.amount_cents)} available on ${next.available_on}`
}

/** What disputes, the reserve and refunds keep, where there is anything. */
const waiting = (state: Payouts): ReadonlyArray<readonly [string, string, string?]> => [
  ...(state.reserved_cents > 0 ? [["Reserved", dollars(state.reserved_cents), "rolling reserve"] as const] : []),
  ...(state.frozen_cents > 0 ? [["Frozen", dollars(state.frozen_cents), "until disputes are decided"] as const] : []),
  ...(state.owed_cents > 0
    ? [["Owed for refunds", dollars(state.owed_cents), "paid from your next earnings"] as const]
    : [])
]

const automatic = (state: Payouts, said: HTMLElement): HTMLElement => {
  const box = el("input", { id: "automatic", type: "checkbox", role: "switch", checked: state.automatic })
  const set = deed("", said, async (idempotencyKey) => {
    const enabled = box.checked
    box.disabled = true
    try {
      await ask<unknown>("POST", `${PAYOUTS}/automatic`, {
        key: keyOf("provider"),
        // On is not off: whichever the last answer was to.
        idempotencyKey: `${idempotencyKey}-${enabled}`,
        body: { enabled }
      })
    } catch (error) {
      box.checked = !enabled
      throw error
    } finally {
      box.disabled = false
      box.focus()
    }
    return enabled
      ? `From now on you are paid on the first day of each month, UTC, where at least ${state.minimum_payout} are there.`
      : "From now on you are paid when you ask for it."
  })
  on(box, { change: () => set.click() })
  return el("p", {}, el("label", { for: "automatic" }, box, "Pay me out by itself on the first day of each month"))
}

const STATES = {
  not_started: ["Not begun", "", "The payment processor has to know who you are before it can pay you."],
  pending: ["In the middle", "info", "The payment processor still looks at your account, or waits for something."],
  complete: ["Complete", "good", "You can be paid."],
  restricted: ["Restricted", "bad", "The payment processor does not pay you until you have answered it."]
} as const

const standing = (connection: Connection, said: HTMLElement): ReadonlyArray<Node> => {
  const { requirements, status } = connection
  const [name, kind, meaning] = STATES[status]
  const due = (title: string, all: ReadonlyArray<string>): Child =>
    all.length === 0
      ? undefined
      : [
          el("dt", {}, title),
          el(
            "dd",
            {},
            all.map((one) => el("div", {}, sentence(one)))
          )
        ]
  const label = status === "not_started" ? "Set up payouts" : "Continue at the processor"
  const going = deed(label, said, async (idempotencyKey) => {
    const key = keyOf("provider")
    const { url } = await ask<Connected>("POST", CONNECT, { key, idempotencyKey, body: {} })
    if (!/^https?:/u.test(url)) throw new Error(`The payment processor's address is none: ${url}`)
    location.assign(url)
    return "Going to the payment processor…"
  })
  if (status === "complete") going.classList.add("plain")
  return [
    el("p", {}, badge(name, kind), " ", meaning),
    el(
      "dl",
      { class: "facts" },
      connection.stripe_account_id === null
        ? undefined
        : [el("dt", {}, "Account"), el("dd", {}, el("code", {}, connection.stripe_account_id))],
      due("Needed now", requirements.currently_due),
      due("Needed later", requirements.eventually_due),
      due("Refused", requirements.errors)
    ),
    el("div", { class: "actions" }, going)
  ]
}

/** `external_account` and `individual.dob.day` are the processor's names. */
const sentence = (name: string): string => {
  if (!/^[\w.]+$/u.test(name)) return name
  const words = name.replaceAll("_", " ").replaceAll(".", ": ")
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const PAYOUT_STATES = {
  requested: ["Requested", "info"],
  transferring: ["On its way", "info"],
  paid: ["Paid", "good"],
  failed: ["Failed: back in your balance", "bad"],
  reversed: ["Taken back", "bad"]
} as const

const history = (state: Payouts): HTMLElement =>
  table(
    "Payouts",
    [
      { name: "Asked for", cell: (one: Payouts["history"][number]) => moment(one.created_at) },
      { name: "Amount", cell: (one) => dollars(one.amount_cents), isNumber: true },
      { name: "State", cell: ({ status }) => badge(PAYOUT_STATES[status][0], PAYOUT_STATES[status][1]) },
      { name: "Paid", cell: (one) => (one.paid_at === null ? "–" : moment(one.paid_at)) },
      {
        name: "Transfer",
        cell: (one) => one.failure ?? (one.stripe_transfer_id === null ? "–" : el("code", {}, one.stripe_transfer_id))
      }
    ],
    state.history
  )
