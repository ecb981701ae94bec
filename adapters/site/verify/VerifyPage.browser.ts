/**
 * The page /verify: reads what was pasted, dropped or chosen, verifies it here, and says what was found. Its page may
 * connect to nothing.
 */
import { verifyReceipt } from "./ReceiptVerifier.browser.ts"

const field = (id: string) => document.querySelector<HTMLTextAreaElement>(`#${id}`)!

const verdict = document.querySelector<HTMLElement>("#verdict")!
const FILE_BYTES_MAX = 1_048_576

const WITHOUT_ED25519 = "It has no Ed25519 in WebCrypto. Use a current one, or the command line."
const WITHOUT_TLS =
  "It verifies only on pages that came over https or from this computer. Open this one that way, or use the command line."

const show = (kind: "valid" | "invalid" | "waiting", title: string, text: string): void => {
  verdict.className = `verdict ${kind}`
  const heading = document.createElement("strong")
  heading.textContent = title
  verdict.replaceChildren(heading, ` ${text}`)
}

const verify = async (): Promise<void> => {
  const [receipt, proof, key] = [field("receipt").value, field("proof").value, field("key").value]
  const missing = [
    ...(receipt.trim() === "" ? ["the receipt"] : []),
    ...(proof.trim() === "" ? ["its proof"] : []),
    ...(key.trim() === "" ? ["the log's key"] : [])
  ]
  if (missing.length > 0) return show("waiting", "Not yet.", `Still needed: ${missing.join(", ")}.`)
  // A text area gives lines an end that a copied proof may have lost.
  const found = await verifyReceipt(receipt, `${proof.replaceAll("\r\n", "\n").replace(/\n*$/u, "")}\n`, key.trim())
  if (found.valid) {
    return show(
      "valid",
      "Valid.",
      `This receipt is number ${(found.leafIndex + 1).toLocaleString()} of ${found.treeSize.toLocaleString()} in ${found.origin}.`
    )
  }
  if (found.reason !== "unsupported") return show("invalid", "Not valid.", found.message)
  show("invalid", "This browser cannot tell.", isSecureContext ? WITHOUT_ED25519 : WITHOUT_TLS)
}

/** A receipt is JSON, a proof says so in its first line, a key has its name and two pluses. */
const place = (name: string, text: string): void => {
  const id = text.startsWith("c2sp.org/tlog-proof@")
    ? "proof"
    : /^\S+\+[0-9a-f]{8}\+\S+\s*$/u.test(text)
      ? "key"
      : text.trimStart().startsWith("{")
        ? "receipt"
        : undefined
  if (id === undefined) return show("waiting", `${name}?`, "It is neither a receipt, nor a proof, nor a key.")
  field(id).value = text
}

const take = async (files: Iterable<File>): Promise<void> => {
  for (const file of files) {
    if (file.size > FILE_BYTES_MAX) show("waiting", `${file.name}?`, "It is too large to be one of the three.")
    else place(file.name, await file.text())
  }
  if (["receipt", "proof", "key"].every((id) => field(id).value.trim() !== "")) await verify()
}

// A verdict is of the texts that were verified, and of no others.
document.querySelector("#check")!.addEventListener("input", () => {
  if (verdict.matches(".valid, .invalid"))
    show("waiting", "Not yet.", "The texts have changed since they were checked.")
})
document.querySelector("#check")!.addEventListener("submit", (event) => {
  event.preventDefault()
  void verify()
})
document.querySelector<HTMLInputElement>("#files")!.addEventListener("change", (event) => {
  void take((event.target as HTMLInputElement).files ?? [])
})
document.addEventListener("dragover", (event) => event.preventDefault())
document.addEventListener("drop", (event) => {
  event.preventDefault()
  void take(event.dataTransfer?.files ?? [])
})
