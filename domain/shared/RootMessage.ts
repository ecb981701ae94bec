/**
 * Libraries wrap failures in failures: the innermost message states the cause.
 */
const CAUSES_MAX = 10

export const rootMessage = (error: unknown): string => {
  let text = ""
  let inner: unknown = error
  for (let n = 0; n <= CAUSES_MAX && typeof inner === "object" && inner !== null; n++) {
    if (inner instanceof Error && inner.message !== "") text = inner.message
    inner = "cause" in inner ? inner.cause : undefined
  }
  return text === "" ? "no reason given" : text.replace(/\.$/u, "")
}
