/** The small integers and UUIDs that represent the ledger's words and ids in the tables of `migrations/lane`. */
import type { BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { type AccountKind, callOfTransfer, type TransferKind, transferOfCall } from "../../../domain/ledger/Transfer.ts"
import { type CloseCall, isFreeProxiedCall, type OpenCall } from "../../../domain/metering/CallStore.ts"
import type { CallCause, ReceiptStatus } from "../../../domain/receipts/Receipts.ts"

type Codes<Word extends string> = Readonly<Record<Word, number>>

export const ACCOUNT_CODE: Codes<AccountKind> = {
  wallet: 1,
  provider: 2,
  platform_fee: 3,
  processor: 4,
  load_clearing: 5,
  payout_clearing: 6,
  refund_clearing: 7,
  dispute_clearing: 8,
  consumer_debt: 11,
  provider_frozen: 12,
  loss: 13
}

export const TRANSFER_CODE: Codes<TransferKind> = {
  call: 1,
  fee: 2,
  load: 3,
  refund: 4,
  payout: 5,
  dispute: 6,
  credit: 7,
  credit_expiry: 8,
  adjustment: 9,
  freeze: 10,
  deposit: 11,
  withdrawal: 12,
  processor_fee: 13,
  loss_cover: 14
}

/** The `day` of balances without lots. */
export const NO_LOT = "1970-01-01"

export const STATUS_CODE: Codes<ReceiptStatus> = { success: 1, error: 2, timeout: 3, rate_limited: 4 }

/** A code of `receipts.status`: an `error` with a known cause. */
export const CAUSE_CODE: Codes<CallCause> = { input_rejected: 5, canceled: 6 }

/** The value of `receipts.status`: the status and, for an error, its cause. */
export const statusCodeOf = (status: ReceiptStatus, cause: CallCause | undefined): number =>
  cause !== undefined && status === "error" ? CAUSE_CODE[cause] : STATUS_CODE[status]

export const causeOfCode = (code: number): CallCause | undefined => {
  if (code === CAUSE_CODE.input_rejected) return "input_rejected"
  return code === CAUSE_CODE.canceled ? "canceled" : undefined
}

/** Every code of receipts with this status. */
export const codesOfStatus = (status: ReceiptStatus): ReadonlyArray<number> =>
  status === "error" ? [STATUS_CODE.error, ...Object.values(CAUSE_CODE)] : [STATUS_CODE[status]]

export const ORIGIN_CODE: Codes<OpenCall["origin"]> = { proxy: 1, meter: 2 }

/** A code of `receipts.origin`: a proxied call that the free tier covered. */
export const FREE_PROXY_CODE = 3

/** The value of `receipts.origin`: the origin, and whether the free tier covered the call. */
export const receiptOriginOf = (call: CloseCall): number =>
  isFreeProxiedCall(call) ? FREE_PROXY_CODE : ORIGIN_CODE[call.origin]

/** The origin in a value of `receipts.origin`. */
export const originOfCode = (code: number): OpenCall["origin"] =>
  code === FREE_PROXY_CODE ? "proxy" : wordOf(ORIGIN_CODE, code)

export const PERIOD_CODE: Codes<BudgetPeriod> = { day: 1, month: 2, total: 3, hour: 4, week: 5 }

/** The word of a code from the database. */
export const wordOf = <Word extends string>(codes: Codes<Word>, code: number): Word => {
  for (const word in codes) if (codes[word] === code) return word
  throw new Error(`The database holds the code ${code}, which none of ${Object.keys(codes).join(", ")} has`)
}

/** A receipt's id and the UUID of its transfers are the same value in different formats. */
export const uuidOfReceipt = transferOfCall

export const receiptOfUuid = callOfTransfer
