/**
 * Problems of verification, disputes and the log.
 */
import { FILED_PER_DAY_MAX, OPEN_WITH_BAD_RECORD_MAX } from "../../../domain/trust/Disputes.ts"
import { MAILS_PER_DAY_MAX } from "../../../domain/trust/Verification.ts"
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

export const trustProblems = {
  AlreadyDecided: duplicate(),
  AlreadyDisputed: duplicate(),
  CreditBeyondCost: invalidField("amount_microcents"),
  DisputeNotFound: notFound(),
  EmailTokenRejected: invalidField("token"),
  FilingTooLate: invalidField("receipt_id"),
  LogUnknown: notFound(),
  MailFailed: providerError(),
  MailNotConfigured: notConfigured("The operator can set SMTP_URL."),
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
} satisfies Partial<ProblemTable>
