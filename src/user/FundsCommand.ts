/**
 * `funds`: the balance, and loads.
 */
import { Console, Duration, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Schemas } from "../../client/Contract.ts"
import { formatPrice, MICROCENTS_PER_CENT } from "../../domain/shared/Microcents.ts"
import { failed } from "./CommandFailure.ts"
import { dollars, json, switchFlag } from "./CommandInput.ts"
import { safeLine, shown, textFields } from "./CommandOutput.ts"
import { ask, Market } from "./Market.ts"

const POLL = Duration.seconds(2)

const readBalance = ask("Reading your balance", (client, signal) => client.money.balance({ signal }))

const balance = Command.make(
  "balance",
  { json },
  Effect.fn("funds balance")(function* ({ json }) {
    const found = yield* readBalance
    yield* shown(json, found, () => described(found))
  })
).pipe(Command.withDescription("Show your balance"))

const load = Command.make(
  "load",
  {
    json,
    amount: Argument.String("amount").pipe(Argument.withDescription("Dollars, such as 5 or 12.50")),
    wait: switchFlag("wait", "Wait until the payment is credited"),
    timeout: Flag.Int("timeout").pipe(Flag.withDescription("Seconds to wait"), Flag.withDefault(900))
  },
  Effect.fn("funds load")(function* ({ amount, json, timeout, wait }) {
    const microcents = yield* dollars("The amount", amount)
    const cents = microcents / Number(MICROCENTS_PER_CENT)
    if (!Number.isSafeInteger(cents))
      return yield* failed("invalid", `The amount must be whole cents; ${amount} was given.`)
    const before = yield* readBalance
    const loaded = yield* ask("Preparing the payment", (client, signal) =>
      client.money.load({ payload: { amount_cents: cents }, signal })
    )
    if (loaded.mode === "dry_run") {
      return yield* shown(json, loaded, () => `Added test credit (dry run). Your balance is ${loaded.new_balance}.`)
    }
    if (!wait) {
      return yield* shown(json, loaded, () => `Pay ${loaded.amount} at ${safeLine(loaded.checkout_url)}`)
    }
    yield* Console.error(`Pay ${loaded.amount} at ${safeLine(loaded.checkout_url)}`)
    yield* Console.error("Waiting for the payment. Ctrl-C ends the wait, not the payment.")
    const after = yield* credited(fundsOf(before)).pipe(
      Effect.timeoutOrElse({
        duration: Duration.seconds(timeout),
        orElse: () =>
          Effect.fail(
            failed(
              "unavailable",
              `The payment was not credited within ${timeout} seconds. \`funds balance\` shows it later.`,
              {
                checkout_url: loaded.checkout_url
              }
            )
          )
      })
    )
    yield* shown(json, after, () => described(after))
  })
).pipe(Command.withDescription("Add funds: prints where to pay; in a dry run adds test credit"))

/** Waits until the funds are more than before. */
const credited = Effect.fnUntraced(function* (before: number) {
  for (;;) {
    const now = yield* readBalance
    if (fundsOf(now) > before) return now
    yield* Effect.sleep(POLL)
  }
})

/** A payment pays the debt first. */
const fundsOf = ({ balance_microcents: balance, debt_microcents: debt }: Schemas["Balance"]): number => balance - debt

const described = (found: Schemas["Balance"]): string =>
  textFields([
    ["Available", dollarsOf(found.available_microcents)],
    ["Balance", dollarsOf(found.balance_microcents)],
    ["Reserved", dollarsOf(found.held_microcents)],
    ...(found.debt_microcents === 0 ? [] : [["Debt", dollarsOf(found.debt_microcents)] as const]),
    ...(found.frozen ? [["Frozen", found.frozen_reason ?? "yes"] as const] : [])
  ])

const dollarsOf = (microcents: number): string => (microcents === 0 ? "$0.00" : formatPrice(BigInt(microcents)))

export const funds = Command.make("funds").pipe(
  Command.withDescription("Show your balance and add funds"),
  Command.withSubcommands([balance, load]),
  Command.provide(Market.layer)
)
