/**
 * Settings of the developer: withdrawal of unspent funds, and an export of the account's data.
 */
import { Fragment } from "preact"
import { CopyValue } from "../../console/Copyable.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataExport } from "../../console/DataExport.browser.ts"
import { Facts } from "../../console/Figures.browser.ts"
import { WithdrawFunds } from "./WithdrawFunds.browser.ts"
import { h, type View } from "../../console/View.browser.ts"

export const tab = (): View => {
  const { account } = useConsole()
  return h(
    Fragment,
    null,
    h(
      "section",
      { id: "account" },
      h(Facts, {
        all: [
          ["Name", account.name],
          ["Account ID", h(CopyValue, { name: "account ID", text: account.id })]
        ]
      })
    ),
    h(WithdrawFunds, null),
    h(DataExport, { lists: EXPORTED })
  )
}

const EXPORTED = [
  { name: "account", path: "/api/v1/market/whoami" },
  { name: "balance", path: "/api/v1/market/balance" },
  { name: "withdrawals", path: "/api/v1/market/balance/withdraw" },
  { name: "keys", path: "/api/v1/market/keys" },
  { name: "grants", path: "/api/v1/market/grants" },
  { name: "toolbox", path: "/api/market/toolbox" },
  { name: "invoices", path: "/api/v1/market/invoices", items: "invoices" },
  { name: "disputes", path: "/api/v1/market/disputes", items: "disputes" },
  { name: "receipts", path: "/api/v1/market/receipts", items: "receipts" }
]
