/**
 * Why the service could not start, in one sentence with advice.
 */
interface Failure {
  readonly _tag?: string
  readonly message: string
  readonly cause?: unknown
}

export const sentenceOf = (error: Failure): string => {
  switch (error._tag) {
    case "StoreUnavailable":
      return error.cause instanceof Error ? sentenceOf(error.cause) : error.message
    case "SqlError":
      return `The database of DATABASE_URL cannot be used: ${root(error)}. ${adviceOn(codeIn(error))}`
    case "MigrationError":
      return `${error.message}: ${root(error)}. Nothing was applied.`
    default:
      return error.message === "" ? root(error) : error.message
  }
}

/** By SQLSTATE, or by the error code of the socket. */
const adviceOn = (code: string): string => {
  if (code === "28P01") return "Check user and password in DATABASE_URL."
  if (code === "28000") return "Check the user in DATABASE_URL, and what pg_hba.conf allows it."
  if (code === "3D000") return "Create the database, or correct its name in DATABASE_URL."
  if (code === "42501")
    return "Grant the role of DATABASE_URL the missing permissions, or make it the owner of the schema."
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

/** Libraries wrap failures in failures: the innermost message states the cause. */
const root = (error: object): string => {
  let text = error instanceof Error ? error.message : ""
  let inner: unknown = error
  for (let n = 0; n < CAUSES_MAX && typeof inner === "object" && inner !== null && "cause" in inner; n++) {
    inner = inner.cause
    if (inner instanceof Error && inner.message !== "") text = inner.message
  }
  return text === "" ? "no reason given" : text.replace(/\.$/u, "")
}
