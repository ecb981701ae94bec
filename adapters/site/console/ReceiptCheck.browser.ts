/**
 * Verifies a receipt in the browser with one click, and shows each step of the proof.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { request, requestFile } from "../kit/ApiRequest.browser.ts"
import type { ReceiptResponse } from "../kit/ApiResponses.browser.ts"
import { type ReceiptVerdict, verifyReceipt } from "../verify/ReceiptVerifier.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { Announcements } from "./Announcements.browser.ts"
import { saveFile } from "./ConsoleContext.browser.ts"
import { loaded, useResource } from "./Resource.browser.ts"
import { facts, h, Notice, type View } from "./View.browser.ts"

type Reason = ReceiptVerdict["reason"]

/** The checks in their order, with the results that fail them. */
const STEPS: ReadonlyArray<readonly [text: string, failures: ReadonlyArray<Reason>]> = [
  ["The log's public key is an Ed25519 key.", ["bad_key", "unsupported"]],
  ["The receipt has its eleven fields.", ["bad_receipt"]],
  ["The proof belongs to this log.", ["bad_proof", "wrong_log"]],
  ["The log's key signed the checkpoint: the size of the log and its root hash.", ["bad_signature"]],
  ["The receipt's hash leads to the signed root hash, so the log contains this receipt unchanged.", ["not_in_tree"]]
]

interface Checked {
  readonly verdict: ReceiptVerdict
  readonly proof: string
  readonly key: string
}

export const ReceiptCheck = ({ receipt }: { readonly receipt: { readonly receipt_id: string } }): ComponentChildren => {
  const [checked, setChecked] = useState<Checked>()
  const id = receipt.receipt_id
  const verify = async () => {
    const [proof, { logs }] = await Promise.all([
      requestFile(`/api/v1/market/receipts/${id}/proof`).then((file) => file.text()),
      request<{ readonly logs: ReadonlyArray<{ readonly origin: string; readonly vkey: string }> }>(
        "GET",
        "/api/v1/market/log"
      )
    ])
    const key = logs.find(({ origin }) => proof.includes(`\n${origin}\n`))?.vkey ?? logs.at(-1)?.vkey ?? ""
    setChecked({ verdict: await verifyReceipt(receipt, proof, key), proof, key })
  }
  return [
    h(
      "p",
      { class: "muted" },
      "The service adds each receipt to a public log. Your browser verifies the receipt against the log's signed root hash, with the proof and the log's public key."
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, { label: "Verify receipt", run: verify }),
      h(
        "button",
        {
          type: "button",
          class: "plain",
          onClick: () => saveFile(`${id}.json`, `${JSON.stringify(receipt, null, 2)}\n`)
        },
        "Download receipt"
      ),
      h(ActionButton, {
        label: "Download proof",
        style: "plain",
        run: async () => saveFile(`${id}.tlog-proof`, await requestFile(`/api/v1/market/receipts/${id}/proof`))
      })
    ),
    checked === undefined ? undefined : h(CheckResult, { checked })
  ]
}

const CheckResult = ({ checked: { key, proof, verdict } }: { readonly checked: Checked }): View => {
  const failed = STEPS.findIndex(([, failures]) => failures.includes(verdict.reason))
  return h(
    "div",
    { "aria-live": "polite", class: "check-result" },
    verdict.valid
      ? h(
          Notice,
          { style: "good" },
          `Valid: entry ${(verdict.leafIndex + 1).toLocaleString()} of ${verdict.treeSize.toLocaleString()} in ${verdict.origin}.`
        )
      : h(Notice, { style: "bad" }, verdict.message),
    h(
      "ol",
      { class: "checks" },
      STEPS.slice(0, failed === -1 ? STEPS.length : failed + 1).map(([text], index) => {
        const isFailed = index === failed
        return h(
          "li",
          { key: text },
          h("span", { "aria-hidden": "true" }, isFailed ? "✗" : "✓"),
          h("span", null, text, h("span", { class: "hidden" }, isFailed ? " Failed." : " Passed."))
        )
      })
    ),
    h(
      "details",
      null,
      h("summary", null, "Proof and key"),
      h("p", null, "Compare the key with one from another source, such as a witness or an older receipt's proof."),
      h("pre", null, h("code", null, key)),
      h("pre", null, h("code", null, proof))
    )
  )
}

// A receipt with its verification result, its proof, and downloads of both.

/** The service checks its own signature. */
export const SignatureNotice = ({ valid }: ReceiptResponse["verification"]): View =>
  valid
    ? h(Notice, { style: "good" }, "Valid: signed by this service.")
    : h(Notice, { style: "bad" }, "Not valid: the signature does not match.")

export const ReceiptView = ({ id }: { readonly id: string }): View => {
  const found = useResource(() => request<ReceiptResponse>("GET", `/api/v1/market/receipts/${id}`), [id])
  return loaded(found, ({ receipt, verification }) => [
    h(SignatureNotice, verification),
    facts(
      Object.entries(receipt).map(([name, value]) => [name, h("span", { class: "number" }, String(value))] as const)
    ),
    h(Announcements, null),
    h(ReceiptCheck, { receipt })
  ])
}
