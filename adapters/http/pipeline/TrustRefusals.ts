/**
 * What verification, disputes and the log refuse, and how that is said over HTTP.
 */
import type { LogUnknown, NotLoggedYet, ReceiptUnknown, TreeSizeUnknown } from "../../../domain/log/ReceiptLog.ts"
import {
  type AlreadyDisputed,
  FILED_PER_DAY_MAX,
  type FilingTooLate,
  type NotAParty,
  OPEN_WITH_BAD_RECORD_MAX,
  type TooManyDisputes
} from "../../../domain/trust/DisputeFilings.ts"
import type {
  AlreadyDecided,
  CreditBeyondCost,
  DisputeNotFound,
  NoSuchReceipt,
  NotToAnswer
} from "../../../domain/trust/DisputeRefusals.ts"
import type { MailFailed, MailNotConfigured } from "../../../domain/trust/Mailer.ts"
import type { ProviderUnknown } from "../../../domain/trust/ProviderTrust.ts"
import { MAILS_PER_DAY_MAX, type TooManyMails } from "../../../domain/trust/MailLimit.ts"
import type { SubjectRefused, TooManyAttempts } from "../../../domain/trust/Verification.ts"
import type { ProblemTable } from "./Problems.ts"

export type TrustRefusal =
  | AlreadyDecided
  | AlreadyDisputed
  | CreditBeyondCost
  | DisputeNotFound
  | FilingTooLate
  | LogUnknown
  | MailFailed
  | MailNotConfigured
  | NoSuchReceipt
  | NotAParty
  | NotLoggedYet
  | NotToAnswer
  | ProviderUnknown
  | ReceiptUnknown
  | SubjectRefused
  | TooManyAttempts
  | TooManyMails
  | TooManyDisputes
  | TreeSizeUnknown

export const trustMapping: ProblemTable<TrustRefusal> = {
  AlreadyDecided: () => ({ status: 409, code: "DUPLICATE" }),
  AlreadyDisputed: () => ({ status: 409, code: "DUPLICATE" }),
  CreditBeyondCost: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["amount_microcents"], message: e.message }]
  }),
  DisputeNotFound: () => ({ status: 404, code: "NOT_FOUND" }),
  FilingTooLate: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["receipt_id"], message: e.message }]
  }),
  LogUnknown: () => ({ status: 404, code: "NOT_FOUND" }),
  MailFailed: () => ({ status: 502, code: "PROVIDER_ERROR" }),
  MailNotConfigured: () => ({ status: 503, code: "NOT_CONFIGURED" }),
  NoSuchReceipt: () => ({ status: 404, code: "NOT_FOUND" }),
  NotAParty: () => ({ status: 403, code: "FORBIDDEN" }),
  NotLoggedYet: () => ({
    status: 503,
    code: "UNAVAILABLE",
    headers: { "retry-after": "1" },
    extra: { retry_after_seconds: 1 }
  }),
  NotToAnswer: () => ({ status: 409, code: "DUPLICATE" }),
  ProviderUnknown: () => ({ status: 404, code: "NOT_FOUND" }),
  ReceiptUnknown: () => ({ status: 404, code: "NOT_FOUND" }),
  SubjectRefused: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: [e.field], message: e.message }]
  }),
  TooManyAttempts: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: { "retry-after": String(e.retryAfterSeconds), "x-ratelimit-limit": String(e.limit) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  TooManyMails: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: { "retry-after": String(e.retryAfterSeconds), "x-ratelimit-limit": String(MAILS_PER_DAY_MAX) },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  TooManyDisputes: (e) => ({
    status: 429,
    code: "RATE_LIMITED",
    headers: {
      "retry-after": String(e.retryAfterSeconds),
      "x-ratelimit-limit": String(e.limit === "a_day" ? FILED_PER_DAY_MAX : OPEN_WITH_BAD_RECORD_MAX)
    },
    extra: { retry_after_seconds: e.retryAfterSeconds }
  }),
  TreeSizeUnknown: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: [{ path: ["tree_size"], message: e.message }]
  })
}
