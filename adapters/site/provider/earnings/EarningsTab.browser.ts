/**
 * The provider's money: earnings, payouts and statements.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DocumentList } from "../../console/DocumentList.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Connection, Payouts } from "../../kit/ApiResponses.browser.ts"
import { AutomaticPayouts } from "./AutomaticPayouts.browser.ts"
import { EarningsSummary } from "./EarningsSummary.browser.ts"
import { FailedPayout } from "./FailedPayout.browser.ts"
import { PayoutAccount } from "./PayoutAccount.browser.ts"
import { PayoutBalance } from "./PayoutBalance.browser.ts"
import { PayoutHistory } from "./PayoutHistory.browser.ts"
import { CONNECT_PATH, PAYOUTS_PATH } from "./PayoutTerms.browser.ts"

/** While the payment processor works on a payout. */
const LIVE_MS = 3_000

interface Money {
  readonly payouts: Payouts
  readonly connection: Connection
}

export const tab = (): View => {
  const { api } = useConsole()
  const money = useResource(
    async () => {
      const [payouts, connection] = await Promise.all([
        api.get<Payouts>(PAYOUTS_PATH),
        api.get<Connection>(CONNECT_PATH)
      ])
      return { payouts, connection }
    },
    [],
    { refreshMs: ({ payouts }) => (payouts.history.some(({ status }) => OPEN.has(status)) ? LIVE_MS : undefined) }
  )
  return h(
    Fragment,
    null,
    h(EarningsSummary, null),
    h(
      "section",
      { id: "payouts" },
      h("h2", null, "Payouts"),
      h(Loaded<Money>, {
        of: money,
        show: ({ connection, payouts }) =>
          h(
            Fragment,
            null,
            h(FailedPayout, { payouts, connection }),
            h(PayoutBalance, { payouts, changed: money.reload }),
            h(AutomaticPayouts, { payouts }),
            h(PayoutAccount, { connection, isDryRun: payouts.mode === "dry_run" }),
            payouts.history.length === 0 ? undefined : h(PayoutHistory, { history: payouts.history })
          )
      })
    ),
    h("h2", null, "Statements"),
    h(DocumentList, { title: "Statements" })
  )
}

const OPEN: ReadonlySet<Payouts["history"][number]["status"]> = new Set(["requested", "transferring"])
