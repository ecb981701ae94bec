/**
 * The main part of the schema: what grows with people, days and payments.
 */
import { Effect } from "effect"
import { accounts } from "./main/Accounts.ts"
import { catalog } from "./main/Catalog.ts"
import { disputes } from "./main/Disputes.ts"
import { invoices } from "./main/Invoices.ts"
import { mcp } from "./main/Mcp.ts"
import { operator } from "./main/Operator.ts"
import { payments } from "./main/Payments.ts"
import { payouts } from "./main/Payouts.ts"
import { postings } from "./main/Postings.ts"
import { platform } from "./main/Platform.ts"
import { receiptLog } from "./main/ReceiptLog.ts"
import { toolboxes } from "./main/Toolboxes.ts"
import { toolImports } from "./main/ToolImports.ts"
import { trust } from "./main/Trust.ts"

export const mainPart = Effect.all(
  [
    accounts,
    catalog,
    toolImports,
    toolboxes,
    payments,
    postings,
    payouts,
    invoices,
    receiptLog,
    disputes,
    trust,
    platform,
    mcp,
    operator
  ],
  { discard: true }
)
