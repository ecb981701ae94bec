/**
 * Words of verification, SLA and trust.
 */
import { PROVIDER_ID, TOOL_ID } from "./SharedWords.ts"
import type { Words } from "./Vocabulary.ts"

export const trustWords: Words = {
  "trust.sla.id": ["The provider.", PROVIDER_ID],
  "trust.toolSla.id": ["The tool.", TOOL_ID],
  "trust.score.id": ["The provider.", PROVIDER_ID],
  "VerifyProvider.": ["What you want to prove."],
  "VerifyProvider.level": ["What to prove."],
  "VerifyProvider.domain": ["For `domain`: your endpoint's host, or a domain of yours above it.", "tools.example.org"],
  "VerifyProvider.repo_url": ["For `code`: the source repository.", "https://github.com/ada/tools"],
  "VerifyProvider.token": ["For `email`: the token from the mail.", "3f9c0d…"],
  "ProviderVerification.": ["Whether it holds, and what to do if not yet."],
  verified: ["Whether what you asked for holds.", false],
  verification_level: ["The highest level that holds."],
  challenge: ["What to publish or to send back; null once it holds."],
  "VerificationChallenge.": ["What to publish or to send back."],
  "VerificationChallenge.type": ["Where the proof goes."],
  record_name: ["The name of the record or file.", "_mcp-billing-verify.tools.example.org"],
  record_value: ["What to put there.", "mcp-billing-verify=0193f9c2-7d5e0a"],
  expires_at: ["Until then.", "2026-11-27T09:30:00.000Z"],
  instructions: ["The same in a sentence.", "Publish this text, then repeat this call."],
  "ProviderVerification.verified_at": ["Since when the level holds; null where none does.", null],
  "ProviderVerification.message": ["What was found.", "Publish it, then repeat this call."],
  "SigningSecret.": ["What requests to a provider are signed with, and how."],
  "SigningSecret.algorithm": ["How the signature is made."],
  "SigningSecret.secret": ["The key: this text as UTF-8. Keep it as you keep your API key.", "6b1f…"],
  signature_header: ["The header that carries the signature, in lowercase hex."],
  signed_text: [
    "What is signed: the `X-Market-*` headers of the same names as they stand there, and SHA-256 of the body in hex.",
    "market-v1\n<timestamp>\n<consumer>\n<tool>\n<invocation>\n<body>"
  ],
  "VerificationGuide.": ["How to prove who you are."],
  "VerificationGuide.schema": ["The JSON Schema of the POST's body."],
  "VerificationGuide.verification_levels": ["What each level proves."],
  "VerificationGuide.trust_badges": ["What each badge says."],
  "trust.describeVerify.200": [
    "How to prove who you are.",
    {
      endpoint: "/api/v1/market/providers/verify",
      method: "POST",
      description: "Prove who you are",
      schema: { type: "object" },
      auth: "Authorization: Bearer <provider key>",
      verification_levels: { email: "A token that was mailed to the registered address came back." },
      trust_badges: { basic: "A score of 25 and more." }
    }
  ],
  "ProviderSla.": ["Thirty days of a provider's calls through the proxy."],
  provider_name: ["The provider's name.", "Ada Tools"],
  "ProviderSla.period": ["Always `30d`."],
  "ToolSla.": ["Thirty days of a tool's calls through the proxy."],
  "ToolSla.period": ["Always `30d`."],
  "ToolSla.period_start": ["When the window begins: at the beginning of a day.", "2026-10-22T00:00:00.000Z"],
  period_start: ["When the window begins: at a full hour.", "2026-10-21T09:00:00.000Z"],
  period_end: ["When it ends: now.", "2026-11-20T09:30:00.000Z"],
  uptime_30d: [
    "The share of calls that succeeded, in percent, without calls whose input was rejected up to 5% of all calls; null without calls.",
    99.41
  ],
  p50_latency_ms: ["Half of the calls took no longer.", 80],
  p95_latency_ms: ["95 of 100 calls took no longer (nearest rank).", 210],
  p99_latency_ms: ["99 of 100 calls took no longer.", 480],
  avg_latency_ms: ["The average.", 91],
  error_rate_30d: ["The share of the same calls that did not succeed, from 0 to 1.", 0.0059],
  total_calls_30d: ["Calls through the proxy.", 1_204],
  successful_calls_30d: ["Calls that succeeded.", 1_197],
  error_calls_30d: ["Calls that failed in any other way than by a timeout or for their input.", 5],
  timeout_calls_30d: ["Calls that took too long.", 2],
  input_rejected_calls_30d: ["Calls whose input the provider rejected: it answered JSON-RPC -32602.", 0],
  input_rejected_rate_30d: ["Their share of all calls, from 0 to 1; null without calls.", 0],
  receipts_issued: ["Receipts of these calls: as many as calls.", 1_204],
  "ProviderSla.disputes": ["Disputes that were filed against the provider.", 1],
  "ProviderSla.verified_at": ["Since when the level holds.", "2026-11-02T10:00:00.000Z"],
  by_day: ["Every day of the window, oldest first."],
  "SlaDay.": ["One day, UTC."],
  "SlaDay.calls": ["Calls.", 40],
  successful: ["Calls that succeeded.", 40],
  timeouts: ["Calls that took too long.", 0],
  input_rejected: ["Calls whose input the provider rejected.", 0],
  uptime: ["The share of calls that succeeded, in percent, by the rule of `uptime_30d`; null without calls.", 100],
  "ProviderTrust.": ["How far to trust a provider, and why."],
  trust_score: ["From 0 to 100.", 78],
  badge: ["What the score amounts to.", "verified"],
  components: ["What the score is the sum of, each from 0 to 25."],
  "TrustComponents.": ["What the score is the sum of."],
  "TrustComponents.verification": ["For who the provider is.", 20],
  "TrustComponents.uptime": ["For calls that succeed.", 20],
  "TrustComponents.latency": ["For being quick.", 18],
  "TrustComponents.disputes": ["For having few disputes.", 20],
  "ProviderTrust.details": ["The evidence."],
  "TrustDetails.": ["The evidence that the score is computed from."],
  counted_calls_30d: ["Calls that count for the score: see `scoring_guide.evidence`.", 1_150],
  "TrustDetails.verified_at": ["Since when the level holds.", "2026-11-02T10:00:00.000Z"],
  distinct_consumers_30d: ["Consumers that paid the provider at least $1 in 30 days, net of refunds.", 17],
  success_rate: [
    "The share of the counted calls that succeeded, weighted by what their consumers paid, from 0 to 1; null without any.",
    0.994186
  ],
  "TrustDetails.p95_latency_ms": [
    "The step of the formula that 95% of the counted paid calls are within, or the longest call beyond the last step; null without any.",
    500
  ],
  total_disputes: ["Disputes against the provider, open ones and those about free calls, too.", 1],
  upheld_disputes: ["Those that ended in a refund.", 0],
  denied_disputes: ["Those that were denied.", 1],
  counted_disputes_30d: ["Disputes about paid calls that ended in a refund: those that lower the score.", 0],
  confidence: ["How much of uptime and latency is measured, from 0 to 1: counted calls / (counted calls + 100).", 0.92],
  history: ["The score of each day."],
  "TrustOfDay.": ["The score of a day."],
  improve: ["What would raise the score."],
  "TrustAdvice.": ["What would raise each component; null where there is nothing to gain."],
  "TrustAdvice.verification": ["What to prove.", "Prove your source repository (25): the highest proof counts."],
  "TrustAdvice.uptime": [
    "How many calls should succeed.",
    "99.41 % of the calls succeed; from 99.5 % on it is worth 23. 1204 calls count for 92 % of it; the rest is drawn to the middle."
  ],
  "TrustAdvice.latency": [
    "How quick they should be.",
    "95 of 100 calls take up to 500 ms; up to 200 ms it is worth 25. 1204 calls count for 92 % of it; the rest is drawn to the middle."
  ],
  "TrustAdvice.disputes": ["What to do about disputes.", null],
  "TrustAdvice.badge": ["What the next badge needs.", null],
  scoring_guide: ["The formula, in words.", { formula: "trust_score = verification + uptime + latency + disputes" }]
}
