/**
 * What kept the service from starting, in one sentence that says what to look at.
 */
export const sentenceOf = (error: { readonly _tag?: string; readonly message: string }): string => {
  switch (error._tag) {
    case "SqlError":
      return `The database of DATABASE_URL cannot be used: ${root(error)}. Is it running, and are address, user and password right?`
    case "RedisError":
      return `The Redis of REDIS_URL cannot be used: ${root(error)}. Is it running, and is the address right?`
    default:
      return error.message === "" ? root(error) : error.message
  }
}

const CAUSES_MAX = 10

/** Libraries wrap failures in failures: the innermost message says what happened. */
const root = (error: object): string => {
  let text = error instanceof Error ? error.message : ""
  let inner: unknown = error
  for (let n = 0; n < CAUSES_MAX && typeof inner === "object" && inner !== null && "cause" in inner; n++) {
    inner = inner.cause
    if (inner instanceof Error && inner.message !== "") text = inner.message
  }
  return text === "" ? "it failed without a word" : text.replace(/\.$/u, "")
}
