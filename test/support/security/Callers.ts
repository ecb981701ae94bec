/**
 * Owners hold the requested objects; the others have accounts of their own; `revoked` was an owner's key.
 */
export const CALLERS = [
  "nobody",
  "revoked",
  "consumerOther",
  "providerOther",
  "operator",
  "providerOwner",
  "consumerOwner"
] as const
export type Caller = (typeof CALLERS)[number]
export type Party = "consumerOwner" | "providerOwner"
