/**
 * The meaning of a failure of PostgreSQL. The database is away, or busy: `StoreUnavailable`. Anything else is an error in our
 * SQL, and a defect.
 */
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"
import { rootMessage, StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"

const DISK_FULL = "53100"
/** A primary that became a standby. */
const READ_ONLY_TRANSACTION = "25006"
const FEATURE_NOT_SUPPORTED = "0A000"
/** A closing names a call that the database does not have: see `migrations/ledger/CloseCalls.ts`. */
const NEVER_OPENED = "P0002"

export const raise = (error: SqlError.SqlError): Effect.Effect<never, StoreUnavailable> =>
  Effect.failCause(Cause.fromReasons([meaningOf(error)]))

/** Reads the cause of a transaction. If its cleanup fails too, as on a lost connection, Effect makes the first failure a defect. */
export const raiseAll = <E>(cause: Cause.Cause<E>): Cause.Cause<Exclude<E, SqlError.SqlError> | StoreUnavailable> =>
  Cause.fromReasons(cause.reasons.map(meaningIn))

const meaningIn = <E>(reason: Cause.Reason<E>): Cause.Reason<Exclude<E, SqlError.SqlError> | StoreUnavailable> => {
  const failure = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
  if (failure instanceof StoreUnavailable) return Cause.makeFailReason(failure)
  return SqlError.isSqlError(failure) ? meaningOf(failure) : (reason as Cause.Reason<Exclude<E, SqlError.SqlError>>)
}

const meaningOf = (error: SqlError.SqlError): Cause.Reason<StoreUnavailable> => {
  const reason = unavailableReason(error)
  return reason === undefined
    ? Cause.makeDieReason(error)
    : Cause.makeFailReason(new StoreUnavailable({ reason, cause: error }))
}

/** Returns undefined for a defect. */
export const unavailableReason = (error: SqlError.SqlError): StoreUnavailable["reason"] | undefined => {
  if (sqlStateOf(error) === DISK_FULL) return "disk_full"
  if (isConnectionLost(error)) return isOutOfResources(error) ? "busy" : "unreachable"
  if (isLockedOut(error)) return "unreachable"
  return isConflict(error) || isTimeout(error) ? "busy" : undefined
}

/** The server rejects this role (SQLSTATE 28...) or every write. Repeating the statement at once does not help. */
export const isLockedOut = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "AuthenticationError" || isReadOnly(error)

/** The server became a standby, or rejects writes for another reason. */
export const isReadOnly = (error: SqlError.SqlError): boolean => sqlStateOf(error) === READ_ONLY_TRANSACTION

/** Citus locks rows of one shard with a statement, and has a lane for each. The statement did nothing. */
export const isOfSeveralShards = (error: SqlError.SqlError): boolean => sqlStateOf(error) === FEATURE_NOT_SUPPORTED

/** The call that a statement closes was never opened in this database. */
export const isNeverOpened = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      reason._tag === "Die" && SqlError.isSqlError(reason.defect) && sqlStateOf(reason.defect) === NEVER_OPENED
  )

/** The connection broke, or the server ends it or is starting (SQLSTATE 57P..), or lacks resources. */
export const isConnectionLost = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "ConnectionError" || sqlStateOf(error).startsWith("57P") || isOutOfResources(error)

/** It was rolled back because of a concurrent transaction. A repetition may succeed. */
export const isConflict = (error: SqlError.SqlError): boolean =>
  error.reason._tag === "DeadlockError" || error.reason._tag === "SerializationError" || isShardSplit(error)

/** Citus has split the shard that a statement was planned for. The statement did nothing. */
const isShardSplit = (error: SqlError.SqlError): boolean =>
  /find valid entry for shard \d|shard for the given value does not exist/u.test(rootMessage(error))

/** A failure of the connection, for code that finds out itself that there is none. */
export const connectionError = (operation: string | undefined, message: string, cause: unknown): SqlError.SqlError =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation }) })

export const isLockTimeout = ({ reason }: SqlError.SqlError): boolean => reason._tag === "LockTimeoutError"

const isTimeout = (error: SqlError.SqlError): boolean =>
  isLockTimeout(error) || error.reason._tag === "StatementTimeoutError"

/** SQLSTATE 53...: connections, memory or disk. */
const isOutOfResources = (error: SqlError.SqlError): boolean => sqlStateOf(error).startsWith("53")

const sqlStateOf = ({ reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
