/**
 * The specification of trust: who a provider is, how it is scored, and how disputes are decided.
 */
import { formatDollars } from "../../../domain/shared/Microcents.ts"
import { MAIL_TOKEN_HOURS } from "../../../domain/trust/Challenge.ts"
import { Resolution, type DecidedBy, DisputeReason, DisputeStatus } from "../../../domain/trust/Dispute.ts"
import { ANSWER_DAYS, DECISION_DAYS, FILED_PER_DAY_MAX, FILING_DAYS_MAX } from "../../../domain/trust/DisputeFilings.ts"
import { RECORD_PREFIX, REPOSITORY_FILE, WELL_KNOWN_PATH } from "../../../domain/trust/Proofs.ts"
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
import { codes, figure, heading, listing, points, said, type SpecPart, text } from "./SpecParts.ts"

const LEVELS: Readonly<Record<VerificationLevel, string>> = {
  unverified: "Nothing is proved.",
  email: `The mailbox: a token that is mailed to it and good for ${MAIL_TOKEN_HOURS} hours.`,
  domain: `The endpoint's domain: a TXT record \`${RECORD_PREFIX}.<domain>\`, or the same text at \`${WELL_KNOWN_PATH}\`.`,
  code: `The source repository: \`${REPOSITORY_FILE}\` with id and token on its default branch.`
}

const BADGE_WORDS = (badge: Badge): string => {
  const least = BADGES.find(([, name]) => name === badge)?.[0]
  if (least === undefined) {
    return `Fewer than ${RATED_CALLS_MIN} counted calls or ${RATED_CONSUMERS_MIN} counted consumers, or a score below ${BADGES.at(-1)![0]}`
  }
  return `A score from ${least}${badge === "verified" ? ", with at least a verified domain; else `trusted`" : ""}`
}

export const trustPart = (): SpecPart => ({
  id: "trust",
  title: "Trust",
  body: [
    heading("Verification of a provider"),
    said(
      "Levels are proved at `POST /api/v1/market/providers/verify`: the first call gives the challenge, the same call again has it checked."
    ),
    listing(
      "Levels",
      ["Level", "What is proved", "Points"],
      VerificationLevel.literals.map((level) => [`\`${level}\``, LEVELS[level], String(VERIFICATION_POINTS[level])])
    ),
    text("mcp-billing-verify=<first 8 characters of the provider id>-<token>"),
    said(
      `A published token is good for ${PUBLISHED_TOKEN_DAYS} days until it is checked. Leave it where it is: it is looked at every`,
      "day, and the level lapses when it is gone."
    ),
    heading("The score"),
    text("trust_score = verification + uptime + latency + disputes, each from 0 to 25"),
    said(
      `The score is computed from consumers that paid the provider at least ${formatDollars(PAID_CONSUMER_MICROCENTS_MIN)} within ${SLA_DAYS} days,`,
      "net of refunds, for calls through the proxy. Other consumers do not count, so a score costs money to move in either direction."
    ),
    points(
      "Counted calls are the paid calls of these consumers, without refunded ones, and their failed calls. The failed calls of a consumer count up to the number of its paid calls.",
      "The success rate and the 95th percentile are weighted by what each consumer paid for a call on average.",
      "Free calls, reported calls, cancellations that were passed on, and calls between a provider and a consumer of the same e-mail address do not count.",
      `Input that the provider rejects (JSON-RPC -32602) does not count up to ${INPUT_REJECTED_SHARE_MAX * 100}% of a consumer's calls; the rest count as failed. The SLA applies the same rule to all calls through the proxy.`,
      "A provider whose tools are all free has no paying consumers and stays `unrated`."
    ),
    listing(
      "Uptime, by success rate",
      ["At least", "Points"],
      [...UPTIME_POINTS.map(([least, given]) => [`${least} %`, String(given)]), ["below", String(UPTIME_POINTS_LEAST)]]
    ),
    listing(
      "Latency, by the 95th percentile of the counted paid calls",
      ["At most", "Points"],
      [
        ...LATENCY_POINTS.map(([most, given]) => [`${figure(most)} ms`, String(given)]),
        ["beyond", String(LATENCY_POINTS_LEAST)]
      ]
    ),
    listing(
      "Disputes about paid calls, filed within the window and decided, by the share of counted calls with an upheld dispute; open disputes do not count",
      ["Share", "Points"],
      [
        ["none", "25"],
        ["all of them denied", "24"],
        ...DISPUTE_POINTS.map(([below, given]) => [`below ${below * 100} %`, String(given)]),
        ["more", String(DISPUTE_POINTS_LEAST)]
      ]
    ),
    said("A small sample says little. Uptime and latency are drawn toward the middle:"),
    text(
      `calls      = counted calls\nconfidence = calls / (calls + ${HALF_CONFIDENCE_CALLS})\npoints     = round(${MIDDLE} + (points - ${MIDDLE}) × confidence)      ${MIDDLE} without calls`
    ),
    listing(
      "Badges",
      ["Badge", "When"],
      Badge.literals.map((badge) => [`\`${badge}\``, BADGE_WORDS(badge)])
    )
  ]
})

const STATES: Readonly<Record<DisputeStatus, string>> = {
  filed: "The provider may accept or contest it.",
  under_review: "It was contested; the operator decides, until `decide_by`.",
  resolved_refund:
    "The consumer has its money back: the provider gives its part, in debt if need be, the platform its fee.",
  resolved_denied: "Nothing moves.",
  resolved_credit: "The platform pays up to the cost from its own money; nobody is at fault."
}

const DECIDERS: Readonly<Record<DecidedBy, string>> = {
  evidence:
    "The call cost money, and its receipt says `error` or `timeout`, or its output did not fit the tool's `output_schema`: refunded at once.",
  provider: "The provider accepted it, or filed it itself: refunded.",
  deadline: `No answer within ${ANSWER_DAYS} days: refunded.`,
  operator: `Anything else, with ${codes(Resolution.literals)}.`,
  operator_deadline: `Contested, and no decision within ${DECISION_DAYS} days (\`decide_by\`): refunded.`,
  chargeback: "The payment was charged back at the bank: denied, since the consumer has its money back from there."
}

export const disputesPart = (): SpecPart => ({
  id: "disputes",
  title: "Disputes",
  body: [
    said(
      `A party to a receipt may dispute it for ${FILING_DAYS_MAX} days (\`POST /api/v1/market/disputes\`), at most ${FILED_PER_DAY_MAX} a day,`,
      `with one of the reasons ${codes(DisputeReason.literals)}; \`other\` needs a description.`,
      "409 `DUPLICATE` while another about the same receipt is open or was decided for its filer."
    ),
    listing(
      "States",
      ["State", "Meaning"],
      DisputeStatus.literals.map((status) => [`\`${status}\``, STATES[status]])
    ),
    listing(
      "Who decides (`decided_by`)",
      ["By", "When"],
      Object.entries(DECIDERS).map(([by, when]) => [`\`${by}\``, when])
    ),
    points(
      "Nobody who keeps silent holds up money: neither the provider nor the operator. What the operator decides after `decide_by` is refused with 409.",
      "The decision moves the money, in the same transaction and once.",
      "The public status has no free text, no evidence and no party's name; the parties see the whole."
    )
  ]
})
