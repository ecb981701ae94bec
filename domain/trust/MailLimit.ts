/**
 * Limits mails per mailbox and day, for all requesters together.
 */
import { DateTime, Effect, Schema } from "effect"
import { Digest } from "../shared/Digest.ts"
import { VerificationStore } from "./VerificationStore.ts"

export const MAILS_PER_DAY_MAX = 5
export const MAILED_DAYS_KEPT = 1

/** The service sends one address a limited number of mails a day, for all accounts together. */
export class TooManyMails extends Schema.TaggedError<TooManyMails>()("TooManyMails", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `The service sends at most ${MAILS_PER_DAY_MAX} mails to one address in 24 hours. Retry after ${this.retryAfterSeconds} seconds.`
  }
}

/** The mailbox of an address: without case and `+tag`, and at Gmail without dots. */
export const mailboxOf = (address: string): string => {
  const text = address.trim().toLowerCase()
  const at = text.lastIndexOf("@")
  const domain = text.slice(at + 1).replace(/\.$/u, "")
  const local = text.slice(0, Math.max(0, at)).replace(/(?<=.)\+.*$/su, "")
  return GMAIL.has(domain) ? `${local.replaceAll(".", "")}@gmail.com` : `${local}@${domain}`
}

const GMAIL: ReadonlySet<string> = new Set(["gmail.com", "googlemail.com"])

/** Counts a mail to this address before it is sent. */
export const makeMailLimit = Effect.gen(function* () {
  const store = yield* VerificationStore
  const { sha256Hex } = yield* Digest
  return Effect.fnUntraced(function* (address: string) {
    const now = yield* DateTime.now
    const since = DateTime.subtract(now, { days: 1 })
    const first = yield* store.mailed(sha256Hex(`mail\n${mailboxOf(address)}`), now, since, MAILS_PER_DAY_MAX)
    if (first === undefined) return
    const freeAtMs = DateTime.add(first, { days: 1 }).epochMilliseconds
    const retryAfterSeconds = Math.max(1, Math.ceil((freeAtMs - now.epochMilliseconds) / 1_000))
    return yield* new TooManyMails({ retryAfterSeconds })
  })
})
