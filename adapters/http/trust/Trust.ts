/**
 * Verification, SLA and trust over HTTP.
 */
import { type DateTime, Effect, Redacted } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ProviderSecrets } from "../../../domain/metering/ProviderSecrets.ts"
import { format } from "../../../domain/shared/Time.ts"
import type { Challenge } from "../../../domain/trust/Challenge.ts"
import type { Sla, SlaDay } from "../../../domain/trust/Sla.ts"
import { type ProviderScore, Trust } from "../../../domain/trust/Trust.ts"
import { scoringGuide } from "../../../domain/trust/TrustScore.ts"
import { MAILS_PER_DAY_MAX, Verification } from "../../../domain/trust/Verification.ts"
import { catalogProblems, namedTool } from "../catalog/ToolViews.ts"
import { describe } from "../contract/Endpoint.ts"
import { invalidField, notConfigured, type ProblemsOf, providerError, tooMany } from "../pipeline/Problems.ts"
import { routesWith } from "../pipeline/Route.ts"
import { fieldsOf } from "../pipeline/Views.ts"
import { TrustApi } from "./TrustApi.ts"

export const verificationProblems = {
  MailFailed: providerError(),
  MailNotConfigured: notConfigured("The operator can set SMTP_URL."),
  SubjectRejected: (e) => invalidField(e.field)(e),
  TooManyAttempts: (e) => tooMany(e.limit, e.retryAfterSeconds),
  TooManyMails: (e) => tooMany(MAILS_PER_DAY_MAX, e.retryAfterSeconds)
} satisfies ProblemsOf<Verification>

const { route } = routesWith({ ...catalogProblems, ...verificationProblems })

const { endpoints } = TrustApi

export const VERIFICATION_LEVELS = {
  unverified: "Nothing is verified.",
  email: "The provider returned a token that was mailed to its registered address.",
  domain: "The endpoint's domain publishes the provider's text, in its DNS or at a well-known path.",
  code: "The source repository has the provider's text on its default branch."
}

export const TRUST_BADGES = {
  unrated: "Too few paid calls, or too few consumers that paid at least $1 in 30 days.",
  basic: "A score of 25 or more.",
  trusted: "A score of 50 or more.",
  verified: "A score of 75 or more, and at least a verified domain."
}

/** The text that `adapters/mcp` signs; a test compares the two. */
export const SIGNED_TEXT = "market-v1\n<timestamp>\n<consumer>\n<tool>\n<invocation>\n<body>"

export const trustRoutes = Effect.gen(function* () {
  const verification = yield* Verification
  const trust = yield* Trust
  const catalog = yield* Catalog
  const secrets = yield* ProviderSecrets

  return [
    route(endpoints.verify, function* ({ as, payload: { domain, level, repo_url: repositoryUrl, token } }) {
      const { ownerId } = as("provider")
      const answer = yield* verification.verify(ownerId, { level, domain, repositoryUrl, token })
      return {
        verified: answer.verified,
        provider_id: ownerId,
        verification_level: answer.standing.level,
        challenge: answer.challenge === undefined ? null : shown(answer.challenge),
        verified_at: instant(answer.standing.at),
        message: answer.message
      }
    }),
    route(endpoints.describeVerify, function* () {
      const description = yield* describe(endpoints.verify)
      return {
        ...description,
        auth: "Authorization: Bearer <provider key>",
        verification_levels: VERIFICATION_LEVELS,
        trust_badges: TRUST_BADGES
      }
    }),
    route(endpoints.signingSecret, ({ as }) =>
      Effect.sync(() => {
        const { ownerId } = as("provider")
        return {
          provider_id: ownerId,
          algorithm: "HMAC-SHA256" as const,
          secret: Redacted.value(secrets.secretOf(ownerId)),
          signature_header: "X-Market-Signature" as const,
          signed_text: SIGNED_TEXT
        }
      })
    ),
    route(endpoints.sla, function* ({ params }) {
      const { disputes, name, sla: figures, verified } = yield* trust.sla(params.id)
      return {
        provider_id: params.id,
        provider_name: name,
        ...measured(figures),
        disputes: disputes.total,
        verification_level: verified.level,
        verified_at: instant(verified.at),
        by_day: figures.days.map(dayOf)
      }
    }),
    route(endpoints.toolSla, function* ({ params }) {
      const entry = yield* namedTool(catalog, params.id)
      const { id, providerId, toolName } = entry.tool
      const figures = yield* trust.slaOfTool(providerId, id)
      return {
        tool_id: id,
        tool_name: toolName,
        provider_id: providerId,
        ...measured(figures),
        by_day: figures.days.map(dayOf)
      }
    }),
    route(endpoints.score, function* ({ params }) {
      return scoreOf(yield* trust.score(params.id))
    })
  ]
})

const measured = (figures: Sla) => ({
  period: "30d" as const,
  period_start: format(figures.from),
  period_end: format(figures.to),
  uptime_30d: figures.uptimePercent ?? null,
  avg_latency_ms: figures.averageMs ?? null,
  p50_latency_ms: figures.p50Ms ?? null,
  p95_latency_ms: figures.p95Ms ?? null,
  p99_latency_ms: figures.p99Ms ?? null,
  error_rate_30d: figures.errorRate ?? null,
  total_calls_30d: figures.calls,
  successful_calls_30d: figures.successes,
  error_calls_30d: figures.errors,
  timeout_calls_30d: figures.timeouts,
  input_rejected_calls_30d: figures.inputRejected,
  input_rejected_rate_30d: figures.inputRejectedRate ?? null,
  receipts_issued: figures.calls
})

const instant = (at: DateTime.Utc | undefined): string | null => (at === undefined ? null : format(at))

const shown = (challenge: Challenge) =>
  fieldsOf(challenge, "type", "recordName", "recordValue", "expiresAt", "instructions")

const dayOf = (day: SlaDay) => ({
  date: day.date,
  calls: day.calls,
  successful: day.successes,
  errors: day.errors,
  timeouts: day.timeouts,
  input_rejected: day.inputRejected,
  uptime: day.uptimePercent ?? null,
  p95_latency_ms: day.p95Ms ?? null
})

const scoreOf = ({ advice, counted, disputes, trust, verified, ...score }: ProviderScore) => ({
  provider_id: score.providerId,
  provider_name: score.name,
  trust_score: trust.score,
  badge: trust.badge,
  components: trust.components,
  details: {
    verification_level: verified.level,
    verified_at: instant(verified.at),
    total_calls_30d: score.calls,
    counted_calls_30d: counted.calls,
    distinct_consumers_30d: counted.consumers,
    success_rate: counted.successRate === undefined ? null : Math.round(counted.successRate * 1e6) / 1e6,
    p95_latency_ms: counted.p95Ms ?? null,
    total_disputes: disputes.total,
    upheld_disputes: disputes.upheld,
    denied_disputes: disputes.denied,
    counted_disputes_30d: score.scored.upheld,
    confidence: trust.confidence
  },
  history: score.history.map(({ date, score }) => ({ date, trust_score: score })),
  improve: fieldsOf(advice, "verification", "uptime", "latency", "disputes", "badge"),
  scoring_guide: scoringGuide
})
