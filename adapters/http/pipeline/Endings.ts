/**
 * How a failed request ended: in a typed failure, without the database, or in a defect. A node that may not post to this
 * ledger, or has not confirmed that it may, counts as unavailable, like one without a database.
 */
import type { Cause } from "effect"
import { SqlError } from "effect/sql"
import { WrongBook } from "../../../domain/ledger/Book.ts"
import { PaymentFailed } from "../../../domain/payments/PaymentGateway.ts"
import { Overloaded } from "../../../domain/shared/Overloaded.ts"
import type { Refusal } from "./Refusals.ts"

/** The typed failure, if it is the only reason. */
export const refusalIn = (cause: Cause.Cause<Refusal>): Refusal | undefined => {
  const [only, ...others] = cause.reasons
  return only?._tag === "Fail" && others.length === 0 ? only.error : undefined
}

export const isDatabaseAway = (reason: Cause.Reason<unknown>): boolean =>
  reason._tag === "Die" &&
  (reason.defect instanceof Overloaded ||
    reason.defect instanceof WrongBook ||
    reason.defect instanceof PaymentFailed ||
    (SqlError.isSqlError(reason.defect) && (AWAY.has(reason.defect.reason._tag) || isClosed(reason.defect))))

/** SQLSTATE 53100. */
export const isDiskFull = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(
    (reason) => reason._tag === "Die" && SqlError.isSqlError(reason.defect) && sqlStateOf(reason.defect) === "53100"
  )

const sqlStateOf = ({ reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

const AWAY: ReadonlySet<string> = new Set([
  "ConnectionError",
  "ConnectionTimeoutError",
  "LockTimeoutError",
  "StatementTimeoutError"
])

/** The database is starting or stopping (SQLSTATE 57P..), or out of connections, memory or disk (53...). */
const isClosed = (error: SqlError.SqlError): boolean => /^(?:57P|53)/u.test(sqlStateOf(error))
