/**
 * `receipts` lists, shows and verifies receipts, and `verify` verifies one from files alone.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type ReceiptVerdict, verifyReceipt } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { failed } from "./CommandFailure.ts"
import { cursor, fromFile, fromStdin, given, json, limit, present, textFlag, vkeyIn } from "./CommandInput.ts"
import { moreAfter, safeLine, shown, textFields, textTable } from "./CommandOutput.ts"
import { ask, LoginFile, Market } from "./Market.ts"

/** The offline verification of a receipt has one step after the other. */
interface Step {
  readonly step: "key" | "receipt" | "proof" | "signature" | "inclusion"
  readonly state: "passed" | "failed" | "not_checked"
  readonly says: string
}

/** The verifier works in this order. */
const CHECKS: ReadonlyArray<readonly [Step["step"], says: string, reasons: ReadonlyArray<ReceiptVerdict["reason"]>]> = [
  ["key", "The key is the public key of a log.", ["bad_key", "unsupported"]],
  ["receipt", "The receipt has exactly the eleven fields of a receipt.", ["bad_receipt"]],
  ["proof", "The proof is from the log of this key.", ["bad_proof", "wrong_log"]],
  ["signature", "The log signed its checkpoint.", ["bad_signature", "wrong_checkpoint", "witness_missing"]],
  ["inclusion", "The receipt is in the signed tree, unchanged.", ["not_in_tree"]]
]

const stepsOf = (verdict: ReceiptVerdict): ReadonlyArray<Step> => {
  const failedAt = verdict.valid ? CHECKS.length : CHECKS.findIndex(([, , reasons]) => reasons.includes(verdict.reason))
  return CHECKS.map(([step, says], index) => {
    if (index < failedAt) return { step, state: "passed", says }
    if (index > failedAt || verdict.valid) return { step, state: "not_checked", says }
    return { step, state: "failed", says: verdict.message }
  })
}

const MARKS: Readonly<Record<Step["state"], string>> = { passed: "ok", failed: "FAILED", not_checked: "-" }

const stepLine = ({ says, state, step }: Step): string =>
  `${MARKS[state].padEnd(6)}  ${step.padEnd(9)}  ${safeLine(says)}`

const RECEIPT_ID = /^rcpt_[0-9a-f]{16,}$/u

/**
 * Fetches what is not given. The verification itself trusts only the log's public key. Keys that `login` noted take
 * precedence over those that the service publishes now.
 */
const receiptsVerify = Command.make(
  "verify",
  {
    json,
    receipt: Argument.String("receipt").pipe(Argument.withDescription("ID, file or - for stdin")),
    proof: textFlag("proof", "File with the proof. Default: the service's proof of the receipt"),
    vkey: textFlag("vkey", "Public key of the log, or a file that contains it. Default: the one noted by `login`")
  },
  Effect.fn("receipts verify")(function* ({ json, proof: proofFile, receipt: source, vkey }) {
    const receipt = yield* receiptOf(source)
    const proof = Option.isSome(proofFile) ? yield* fromFile(proofFile.value) : yield* fetchedProof(receipt)
    const trusted = yield* keyFor(proof, given(vkey))
    const verdict = yield* Effect.promise(() => verifyReceipt(receipt, proof, trusted.key))
    const steps = stepsOf(verdict)
    const { reason, valid } = verdict
    const report = {
      valid,
      reason,
      ...(verdict.valid ? { log: verdict.origin, leaf_index: verdict.leafIndex, tree_size: verdict.treeSize } : {}),
      vkey: trusted.key,
      key_source: trusted.source,
      steps
    }
    yield* shown(json, report, () =>
      [
        ...steps.map(stepLine),
        `Key: ${safeLine(trusted.key)} (${SOURCES[trusted.source]})`,
        ...(verdict.valid
          ? [`Valid: receipt ${verdict.leafIndex + 1} of ${verdict.treeSize} in ${safeLine(verdict.origin)}.`]
          : [])
      ].join("\n")
    )
    if (!verdict.valid) return yield* failed("not_valid", `NOT VALID (${verdict.reason}): ${safeLine(verdict.message)}`)
    if (trusted.source === "published" && !json) {
      yield* Console.error(
        "The key is the one that the service publishes now. Compare it with another source, or note it with `login`."
      )
    }
  })
).pipe(
  Command.withDescription("Verify a receipt offline with the proof of the log, step by step"),
  Command.withExamples([
    {
      command: "agent-tool-billing receipts verify rcpt_0123456789abcdef0123456789abcdef",
      description: "One of yours"
    },
    {
      command: "agent-tool-billing receipts verify receipt.json --proof receipt.tlog-proof --vkey log.vkey",
      description: "Without a network"
    }
  ])
)

const SOURCES = {
  given: "as you gave it",
  noted: "noted when you signed in",
  published: "published by the service"
} as const

const receiptOf = Effect.fnUntraced(function* (source: string) {
  if (!RECEIPT_ID.test(source)) return source === "-" ? yield* fromStdin : yield* fromFile(source)
  const found = yield* ask("Reading the receipt", (client, signal) =>
    client.receipts.find({ params: { id: source }, signal })
  ).pipe(Effect.provide(Market.layer))
  return JSON.stringify(found.receipt)
})

const fetchedProof = Effect.fnUntraced(function* (receipt: string) {
  const id = /"receipt_id"\s*:\s*"(?<id>rcpt_[0-9a-f]{16,})"/u.exec(receipt)?.groups?.["id"]
  if (id === undefined) return yield* failed("invalid", "This is not a receipt: it has no `receipt_id`.")
  // The service answers once the log contains the receipt, which takes about a second.
  return String(
    yield* ask("Waiting for the proof", (client, signal) =>
      client.log.proof({ params: { id }, accept: "text/plain", signal })
    )
  )
}, Effect.provide(Market.layerPublic))

const keyFor = Effect.fnUntraced(function* (proof: string, given: string | undefined) {
  if (given !== undefined) return { key: yield* vkeyIn(given), source: "given" as const }
  const origins = new Set(proof.split("\n"))
  const isOfProof = (vkey: string) => origins.has(vkey.slice(0, vkey.indexOf("+")))
  const login = yield* (yield* LoginFile).read
  const noted = Option.match(login, { onNone: () => [], onSome: ({ logKeys }) => logKeys }).find(isOfProof)
  if (noted !== undefined) return { key: noted, source: "noted" as const }
  const { keys } = yield* ask("Reading the keys of the log", (client, signal) => client.log.keys({ signal })).pipe(
    Effect.provide(Market.layerPublic)
  )
  const published = keys.map(({ vkey }) => vkey)
  const key = published.find(isOfProof) ?? published[0]
  if (key === undefined)
    return yield* failed("unavailable", "The service publishes no key of its log. Give one with --vkey.")
  return { key, source: "published" as const }
})

const list = Command.make(
  "list",
  {
    json,
    limit,
    cursor,
    status: Flag.Literals("status", ["success", "error", "timeout", "rate_limited"]).pipe(
      Flag.withDescription("Outcome of the calls"),
      Flag.optional
    ),
    from: textFlag("from", "Earliest time, such as 2026-11-01T00:00:00Z"),
    to: textFlag("to", "Time before which the calls were")
  },
  Effect.fn("receipts list")(function* ({ json, limit, ...filters }) {
    const query = present({
      limit,
      cursor: given(filters.cursor),
      status: given(filters.status),
      from: given(filters.from),
      to: given(filters.to)
    })
    const page = yield* ask("Reading your receipts", (client, signal) => client.receipts.list({ query, signal }))
    yield* shown(json, page, () =>
      page.receipts.length === 0
        ? "No receipts."
        : textTable(
            ["RECEIPT", "TIME", "TOOL", "STATUS", "COST"],
            page.receipts.map((receipt) => [
              receipt.receipt_id,
              receipt.timestamp,
              receipt.tool_name ?? "–",
              receipt.status,
              formatPrice(BigInt(receipt.cost_microcents))
            ])
          )
    )
    if (!json) yield* moreAfter(page)
  })
).pipe(Command.withDescription("List the receipts of your calls, newest first"))

const show = Command.make(
  "show",
  { json, id: Argument.String("receipt-id").pipe(Argument.withDescription("ID of the receipt")) },
  Effect.fn("receipts show")(function* ({ id, json }) {
    const found = yield* ask("Reading the receipt", (client, signal) =>
      client.receipts.find({ params: { id }, signal })
    )
    const { receipt, verification } = found
    yield* shown(json, found, () =>
      textFields([
        ["Receipt", receipt.receipt_id],
        ["Time", receipt.timestamp],
        ["Tool", `${receipt.tool_name} (${receipt.tool_id})`],
        ["Provider", receipt.provider_id],
        ["Consumer", receipt.agent_id],
        ["Status", receipt.status],
        ["Cost", formatPrice(BigInt(receipt.cost_microcents))],
        ["Duration", `${receipt.duration_ms} ms`],
        ["Signature", `${verification.valid ? "valid" : "NOT VALID"}, says the service`]
      ])
    )
  })
).pipe(Command.withDescription("Show a receipt"))

export const receipts = Command.make("receipts").pipe(
  Command.withDescription("List, show and verify receipts"),
  Command.withSubcommands([
    list.pipe(Command.provide(Market.layer)),
    show.pipe(Command.provide(Market.layer)),
    receiptsVerify
  ])
)

export const verify = Command.make(
  "verify",
  {
    receipt: Argument.String("receipt").pipe(Argument.withDescription("File with the receipt, such as receipt.json")),
    proof: Argument.String("proof").pipe(Argument.withDescription("File with the proof, such as receipt.tlog-proof")),
    vkey: Flag.String("vkey").pipe(
      Flag.withDescription("Public key of the log as a C2SP vkey, or a file that contains it")
    ),
    checkpoint: textFlag("checkpoint", "File with a checkpoint that witnesses signed"),
    witnesses: Flag.String("witness").pipe(
      Flag.withDescription("Key of a witness that must have signed the checkpoint, or its file. Can be repeated"),
      Flag.atLeast(0)
    )
  },
  Effect.fn("verify")(function* (files) {
    const receipt = yield* fromFile(files.receipt)
    const proof = yield* fromFile(files.proof)
    const vkey = yield* vkeyIn(files.vkey)
    const witnesses = yield* Effect.forEach(files.witnesses, vkeyIn)
    const checkpoint = Option.isNone(files.checkpoint) ? {} : { checkpoint: yield* fromFile(files.checkpoint.value) }
    const verdict = yield* Effect.promise(() => verifyReceipt(receipt, proof, vkey, { witnesses, ...checkpoint }))
    if (!verdict.valid) return yield* failed("not_valid", `NOT VALID (${verdict.reason}): ${verdict.message}`)
    const seen = verdict.witnesses.length === 0 ? "" : `, seen by ${verdict.witnesses.join(", ")}`
    yield* Console.log(`Valid: receipt ${verdict.leafIndex + 1} of ${verdict.treeSize} in ${verdict.origin}${seen}.`)
  })
).pipe(Command.withDescription("Verify a receipt offline, from files. Exit code 1 if it is not valid"))
