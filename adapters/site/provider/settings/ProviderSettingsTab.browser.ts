/**
 * Settings of the provider: profile, keys, the MCP endpoint and what it passes on, request signing, and an export of the
 * account's data.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataExport, type ExportedList } from "../../console/DataExport.browser.ts"
import { KeyList } from "../../console/KeyList.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { PassedFeatures } from "./PassedFeatures.browser.ts"
import { ProfileForm } from "./ProfileForm.browser.ts"
import { RequestSigning } from "./RequestSigning.browser.ts"

export const tab = (): View => {
  const { account } = useConsole()
  return h(
    Fragment,
    null,
    h(ProfileForm, null),
    h(PassedFeatures, null),
    h(RequestSigning, null),
    h("h2", null, "API keys"),
    h(KeyList, null),
    h(DataExport, { lists: exportedOf(account.id) })
  )
}

const exportedOf = (id: string): ReadonlyArray<ExportedList> => [
  { name: "account", path: "/api/v1/market/whoami" },
  { name: "profile", path: "/api/v1/market/providers/profile" },
  { name: "tools", path: "/api/v1/market/tools", items: "tools" },
  { name: "tool_sync", path: "/api/v1/market/tools/sync" },
  { name: "mcp_features", path: "/api/v1/market/mcp-features" },
  { name: "trust", path: `/api/v1/market/providers/${id}/trust` },
  { name: "payouts", path: "/api/market/payouts" },
  { name: "payout_account", path: "/api/market/connect" },
  { name: "keys", path: "/api/v1/market/keys" },
  { name: "statements", path: "/api/v1/market/invoices", items: "invoices" },
  { name: "disputes", path: "/api/v1/market/disputes", items: "disputes" },
  { name: "receipts", path: "/api/v1/market/receipts", items: "receipts" }
]
