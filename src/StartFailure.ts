/**
 * The reason why the service could not start, in one sentence with advice.
 */
import type { BookMode } from "../domain/ledger/Book.ts"
import { rootMessage } from "../domain/shared/StoreUnavailable.ts"

interface Failure {
  readonly _tag?: string
  readonly message: string
  readonly cause?: unknown
  /** The setting that names the database. Default: `DATABASE_URL`. */
  readonly setting?: string
  /** A `WrongBook` has the book of the database. */
  readonly found?: { readonly mode: BookMode }
}

export const sentenceOf = (error: Failure): string => {
  switch (error._tag) {
    case "StoreUnavailable":
      return error.cause instanceof Error ? sentenceOf(error.cause) : error.message
    case "SqlError":
      return sqlSentence(error, error.setting ?? "DATABASE_URL")
    case "MigrationError":
      return `${error.message}: ${rootMessage(error)}. Nothing was applied.`
    case "WrongBook":
      return `${error.message} ${error.found === undefined ? "" : bookAdvice[error.found.mode]}`
    case "MoneyRemaining":
      return `${error.message} \`--leave-money\` erases the account and leaves the amount.`
    default:
      return error.message === "" ? rootMessage(error) : error.message
  }
}

const OTHER_BOOK =
  "or use an empty database or data folder. The commands `audit` and `fsck` read a restored backup without moving money."

const bookAdvice: Readonly<Record<BookMode, string>> = {
  dry_run: `Start with PAYMENTS=dry_run, ${OTHER_BOOK}`,
  test: `Start with PAYMENTS=stripe and a test key (sk_test_...) of that account, ${OTHER_BOOK}`,
  live: `Start with PAYMENTS=stripe and a live key (sk_live_...) of that account, ${OTHER_BOOK}`
}

const sqlSentence = (error: Failure, setting: string): string =>
  `The database of ${setting} cannot be used: ${rootMessage(error)}. ${adviceOn(codeIn(error), setting)}`

/** `code` is a SQLSTATE, or the error code of the socket. */
const adviceOn = (code: string, setting: string): string => {
  if (code === "28P01") return `Check user and password in ${setting}.`
  if (code === "28000") return `Check the user in ${setting}, and what pg_hba.conf allows it.`
  if (code === "3D000") return `Create the database, or correct its name in ${setting}.`
  if (code === "42501")
    return `Grant the role of ${setting} the missing permissions, or make it the owner of the schema.`
  if (code === "08P01")
    return "If a connection pooler is in between, connect to PostgreSQL directly, or let PgBouncer (in session mode) ignore_startup_parameters = idle_in_transaction_session_timeout, lock_timeout."
  if (code.startsWith("53")) return "The database has no free connections, memory or disk space."
  if (code.startsWith("57P")) return "The database is starting or stopping. Retry in a moment."
  return "Check that it is running, and the address, user and password."
}

const CAUSES_MAX = 10

const codeIn = (error: object): string => {
  let inner: unknown = error
  for (let n = 0; n < CAUSES_MAX && typeof inner === "object" && inner !== null; n++) {
    if ("code" in inner && typeof inner.code === "string") return inner.code
    inner = "reason" in inner ? inner.reason : "cause" in inner ? inner.cause : undefined
  }
  return ""
}
