/**
 * Problems of verification, disputes and the log.
 */
import type { LogUnknown, NotLoggedYet, ReceiptUnknown, TreeSizeUnknown } from "../../../../domain/log/ReceiptLog.ts"
import {
  type AlreadyDisputed,
  FILED_PER_DAY_MAX,
  type FilingTooLate,
  type NotAParty,
  OPEN_WITH_BAD_RECORD_MAX,
  type TooManyDisputes
} from "../../../../domain/trust/DisputeFilings.ts"
import type {
  AlreadyDecided,
  CreditBeyondCost,
  DisputeNotFound,
  NoSuchReceipt,
  NotAnswerable
} from "../../../../domain/trust/DisputeErrors.ts"
import type { MailFailed, MailNotConfigured } from "../../../../domain/trust/Mailer.ts"
import type { ProviderUnknown } from "../../../../domain/trust/ProviderTrust.ts"
import { MAILS_PER_DAY_MAX, type TooManyMails } from "../../../../domain/trust/MailLimit.ts"
import type { SubjectRejected } from "../../../../domain/trust/Verification.ts"
import type { TooManyAttempts } from "../../../../domain/trust/VerificationSteps.ts"
import {
  duplicate,
  forbidden,
  invalidField,
  notConfigured,
  notFound,
  type ProblemTable,
  providerError,
  tooMany,
  unavailableFor
} from "./ProblemTable.ts"

export type TrustError =
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
  | NotAnswerable
  | ProviderUnknown
  | ReceiptUnknown
  | SubjectRejected
  | TooManyAttempts
  | TooManyMails
  | TooManyDisputes
  | TreeSizeUnknown

export const trustProblems: ProblemTable<TrustError> = {
  AlreadyDecided: duplicate(),
  AlreadyDisputed: duplicate(),
  CreditBeyondCost: invalidField("amount_microcents"),
  DisputeNotFound: notFound(),
  FilingTooLate: invalidField("receipt_id"),
  LogUnknown: notFound(),
  MailFailed: providerError(),
  MailNotConfigured: notConfigured(),
  NoSuchReceipt: notFound(),
  NotAParty: forbidden(),
  NotLoggedYet: () => unavailableFor(1),
  NotAnswerable: duplicate(),
  ProviderUnknown: notFound(),
  ReceiptUnknown: notFound(),
  SubjectRejected: (e) => invalidField(e.field)(e),
  TooManyAttempts: (e) => tooMany(e.limit, e.retryAfterSeconds),
  TooManyMails: (e) => tooMany(MAILS_PER_DAY_MAX, e.retryAfterSeconds),
  TooManyDisputes: (e) =>
    tooMany(e.limit === "a_day" ? FILED_PER_DAY_MAX : OPEN_WITH_BAD_RECORD_MAX, e.retryAfterSeconds),
  TreeSizeUnknown: invalidField("tree_size")
}
