/**
 * Specification of verification, trust scores and disputes.
 */
import { formatDollars } from "../../../domain/shared/Microcents.ts"
import { MAIL_TOKEN_HOURS, RECORD_PREFIX, REPOSITORY_FILE, WELL_KNOWN_PATH } from "../../../domain/trust/Challenge.ts"
import { type DecidedBy, DisputeReason, type DisputeStatus, Resolution } from "../../../domain/trust/DisputeStore.ts"
import { ANSWER_DAYS, DECISION_DAYS, FILED_PER_DAY_MAX, FILING_DAYS_MAX } from "../../../domain/trust/Disputes.ts"
import { PAID_CONSUMER_MICROCENTS_MIN } from "../../../domain/trust/PaidCalls.ts"
import { INPUT_REJECTED_SHARE_MAX, SLA_DAYS } from "../../../domain/trust/Sla.ts"
import {
  Badge,
  BADGES,
  DISPUTE_POINTS,
  DISPUTE_POINTS_LEAST,
  HALF_CONFIDENCE_CALLS,
  LATENCY_POINTS,
  LATENCY_POINTS_LEAST,
  MIDDLE,
  RATED_CALLS_MIN,
  RATED_CONSUMERS_MIN,
  UPTIME_POINTS,
  UPTIME_POINTS_LEAST,
  VERIFICATION_POINTS,
  VerificationLevel
} from "../../../domain/trust/TrustScore.ts"
import { PUBLISHED_TOKEN_DAYS } from "../../../domain/trust/Verification.ts"
import {
  code,
  codeList,
  definitions,
  formatNumber,
  heading,
  list,
  paragraph,
  type SpecSection,
  table
} from "./SpecMarkup.ts"

const LEVELS: Readonly<Record<VerificationLevel, string>> = {
  unverified: "No verification.",
  email: `The email address, by a token that is sent to it and expires after ${MAIL_TOKEN_HOURS} hours.`,
  domain: `The endpoint's domain, by a TXT record \`${RECORD_PREFIX}.<domain>\` or the same text at \`${WELL_KNOWN_PATH}\`.`,
  code: `The source repository, by \`${REPOSITORY_FILE}\` with id and token on its default branch.`
}

const badgeCondition = (badge: Badge): string => {
  const minimum = BADGES.find(([, name]) => name === badge)?.[0]
  if (minimum === undefined) {
    return `Fewer than ${RATED_CALLS_MIN} counted calls or ${RATED_CONSUMERS_MIN} counted consumers, or a score below ${BADGES.at(-1)![0]}.`
  }
  return `Score of at least ${minimum}${badge === "verified" ? " and a verified domain or source; else `trusted`" : ""}.`
}

export const trustSection = (): SpecSection => ({
  id: "trust",
  title: "Trust",
  body: [
    heading("Verification"),
    paragraph(
      "Providers verify at `POST /api/v1/market/providers/verify`: the first request returns a challenge, a repeated request checks it."
    ),
    table(
      "Verification levels",
      ["Level", "What is verified", "Points"],
      VerificationLevel.literals.map((level) => [`\`${level}\``, LEVELS[level], String(VERIFICATION_POINTS[level])])
    ),
    code("mcp-billing-verify=<first 8 characters of the provider id>-<token>"),
    paragraph(
      `A published token must be checked within ${PUBLISHED_TOKEN_DAYS} days. It is checked again every day, and the level lapses if it is removed.`
    ),
    heading("Trust score"),
    code("trust_score = verification + uptime + latency + disputes, each from 0 to 25"),
    paragraph(
      `Counted consumers paid the provider at least ${formatDollars(PAID_CONSUMER_MICROCENTS_MIN)} net of refunds within ${SLA_DAYS} days, for calls through the proxy.`,
      "Other consumers do not affect the score."
    ),
    list(
      "Counted calls are the paid, unrefunded calls of these consumers and their failed calls, up to the number of each consumer's paid calls.",
      "Success rate and p95 latency are weighted by each consumer's average price per call.",
      "Free calls, reported calls, calls that their caller or the service ended, and calls between a provider and a consumer with the same email address do not count.",
      `Input that the provider rejects (JSON-RPC -32602, or -32021 for a capability that the client lacks) does not count up to ${INPUT_REJECTED_SHARE_MAX * 100}% of a consumer's calls; the rest count as failed. The SLA applies the same rule to all calls through the proxy.`,
      "A provider with only free tools has no counted consumers and remains `unrated`."
    ),
    table(
      "Uptime, by success rate",
      ["At least", "Points"],
      [...UPTIME_POINTS.map(([least, given]) => [`${least}%`, String(given)]), ["lower", String(UPTIME_POINTS_LEAST)]]
    ),
    table(
      "Latency, by p95 of the counted paid calls",
      ["At most", "Points"],
      [
        ...LATENCY_POINTS.map(([most, given]) => [`${formatNumber(most)} ms`, String(given)]),
        ["higher", String(LATENCY_POINTS_LEAST)]
      ]
    ),
    table(
      "Disputes, by the share of counted calls with an upheld dispute",
      ["Share", "Points"],
      [
        ["none", "25"],
        ...DISPUTE_POINTS.map(([below, given]) => [`below ${below * 100}%`, String(given)]),
        ["higher", String(DISPUTE_POINTS_LEAST)]
      ]
    ),
    paragraph("Open disputes do not count. With few calls, uptime and latency are drawn toward the middle:"),
    code(
      `calls      = counted calls\nconfidence = calls / (calls + ${HALF_CONFIDENCE_CALLS})\npoints     = round(${MIDDLE} + (points - ${MIDDLE}) × confidence)      ${MIDDLE} without calls`
    ),
    table(
      "Badges",
      ["Badge", "Condition"],
      Badge.literals.map((badge) => [`\`${badge}\``, badgeCondition(badge)])
    )
  ]
})

const STATUSES: Readonly<Record<DisputeStatus, string>> = {
  filed: "The provider can accept or contest it.",
  under_review: "Contested. The operator decides, until `decide_by`.",
  resolved_refund:
    "The consumer is refunded: the provider returns its part, as a debt if necessary, and the platform its fee.",
  resolved_denied: "No refund.",
  resolved_credit: "The platform credits up to the cost from its own funds; the provider pays nothing."
}

const DECIDERS: Readonly<Record<DecidedBy, string>> = {
  evidence:
    "The call was charged and its receipt says `error` or `timeout`, or its output did not match the tool's `output_schema`: refunded immediately.",
  provider: "The provider accepted the dispute, or filed it: refunded.",
  deadline: `No response within ${ANSWER_DAYS} days: refunded.`,
  operator: `The operator decided, with ${codeList(Resolution.literals)}.`,
  operator_deadline: `Contested, and no decision within ${DECISION_DAYS} days (\`decide_by\`): refunded.`,
  chargeback: "The payment was charged back: denied, because the bank has already returned the money."
}

export const disputesSection = (): SpecSection => ({
  id: "disputes",
  title: "Disputes",
  body: [
    paragraph(
      `A party to a receipt can dispute it for ${FILING_DAYS_MAX} days (\`POST /api/v1/market/disputes\`), at most ${FILED_PER_DAY_MAX} disputes per day,`,
      `with one of the reasons ${codeList(DisputeReason.literals)}; \`other\` requires a description.`,
      "409 `DUPLICATE` if another dispute of the same receipt is open, or was decided for the party that filed it."
    ),
    definitions("Dispute statuses", "Status", STATUSES),
    definitions("Deciders (`decided_by`)", "Decider", DECIDERS),
    list(
      "The decision moves the money once, in the same transaction. Decisions of the operator after `decide_by` are rejected with 409.",
      "The public status contains no free text, evidence or names of parties."
    )
  ]
})
