/**
 * The stored form of the answer of a call with an idempotency key. Answers of the two doors differ in a few values only: with a
 * dictionary of the rest, a typical one takes a sixth of its bytes, on disk and in the WAL.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib"
import { isRetained, type KeptResult } from "../../../domain/metering/CallStore.ts"

export interface AnswerColumns {
  /** Of an answer whose caller disconnected, which is found by them. Those of others are packed with the body. */
  readonly headers: string | null
  readonly body: Uint8Array
}

/** The first byte of a packed answer: how the rest is coded. */
const PLAIN = 0
const DEFLATED = 1

/** Longer ones are left to PostgreSQL, which compresses them without delaying other calls of this node. */
const DEFLATED_CHARS_MAX = 16 * 1024

/**
 * Stored answers can be read only with the dictionary with which they were written: another one needs another first byte.
 * The most frequent text is last.
 */
const DICTIONARY = Buffer.from(
  '{"x-request-id":"content-type":"application/problem+json","type":"title":"status":"detail":"instance":"error":true,' +
    '"code":"message":"request_id":"provider_error":{"retry_after_seconds":null,"jsonrpc":"2.0","id":1,"result":{"content":' +
    '[{"type":"text","text":"","isError":false,"structuredContent":{"_meta":{"resultType":"complete"' +
    '{"x-market-cost":"0","x-market-provider":"","x-market-latency":"10","x-market-tool":"","x-market-receipt":"rcpt_019",' +
    '"x-market-retried":"true","link":"<https://http://localhost:3000/api/v1/market/receipts/rcpt_019>; rel=\\"receipt\\""}\n' +
    '{"result":{"content":[{"type":"text","text":"{\\"\\":\\"\\"}"}],"structuredContent":{},"isError":false},"meta":{"tool":"",' +
    '"tool_name":"","tool_id":"","provider":"","provider_id":"","cost_cents":0.5,"cost_microcents":10000,"cost":"$0.01",' +
    '"latency_ms":100,"remaining_balance_cents":1000,"remaining_balance_microcents":10000000,"free_tier_remaining":null,' +
    '"receipt_id":"rcpt_019","invocation_id":"rcpt_019","attempts":1,"outcome":"success"}}'
)

/** Small tables: a short text does not fill them, and each answer makes its own. */
const OPTIONS = {
  level: constants.Z_BEST_SPEED,
  memLevel: 4,
  windowBits: 12,
  dictionary: DICTIONARY,
  maxOutputLength: 4 * DEFLATED_CHARS_MAX
}

/** The body is not stored, or was deleted. */
const NO_BYTES = new Uint8Array()

export const answerColumns = (answer: KeptResult): AnswerColumns => {
  const headers = JSON.stringify(answer.headers)
  return isRetained(answer)
    ? { headers, body: answer.body === "" ? NO_BYTES : packed(`\n${answer.body}`) }
    : { headers: null, body: packed(`${headers}\n${answer.body}`) }
}

export const answerOf = (status: number, { body, headers }: AnswerColumns): KeptResult => {
  const text = body.length === 0 ? "\n" : unpacked(body)
  const end = text.indexOf("\n")
  return { status, headers: JSON.parse(headers ?? text.slice(0, end)), body: text.slice(end + 1) }
}

const packed = (text: string): Uint8Array =>
  text.length > DEFLATED_CHARS_MAX
    ? Buffer.concat([Buffer.of(PLAIN), Buffer.from(text)])
    : Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(text, OPTIONS)])

const unpacked = (bytes: Uint8Array): string => {
  const [coding] = bytes
  if (coding !== PLAIN && coding !== DEFLATED) throw new Error(`A stored answer has the unknown coding ${coding}`)
  const rest = bytes.subarray(1)
  return Buffer.from(coding === PLAIN ? rest : inflateRawSync(rest, OPTIONS)).toString("utf8")
}
