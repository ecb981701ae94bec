import { AddressRefused } from "./GuardedConnector.ts"
import { fault, type Reply } from "./Reply.ts"

/** Translates undici's error; `answering` if the response had started. */
export const faultOf = (error: Error, answering: boolean, bytes: number): Reply => {
  if (error instanceof AddressRefused) return fault("blocked", "The service may not call the provider's address")
  const code = "code" in error ? error.code : undefined
  if (code === "UND_ERR_HEADERS_OVERFLOW") return fault("too_large", "The provider's headers are too large", bytes)
  if (code === "UND_ERR_CONNECT_TIMEOUT") return fault("connection", "The provider could not be reached in time")
  if (error.name === "HTTPParserError") return fault("malformed", "The provider does not speak HTTP", bytes)
  return fault(
    "connection",
    answering ? "The provider's response was interrupted" : "The connection to the provider failed",
    bytes
  )
}
