/**
 * Verifies the receipt that was pasted, dropped or selected. The page makes no requests.
 */
import { verifyReceipt } from "./ReceiptVerifier.browser.ts"

const field = (id: string) => document.querySelector<HTMLTextAreaElement>(`#${id}`)!
const text = (id: string) => field(id).value.trim()

const FIELDS = ["receipt", "proof", "key"] as const
const FILE_BYTES_MAX = 1_048_576

const verdict = document.querySelector<HTMLElement>("#verdict")!

const show = (kind: "valid" | "invalid" | "waiting", title: string, message: string): void => {
  verdict.className = `verdict ${kind}`
  const heading = document.createElement("strong")
  heading.textContent = title
  verdict.replaceChildren(heading, ` ${message}`)
}

const verify = async (): Promise<void> => {
  const missing = FIELDS.filter((id) => text(id) === "")
  if (missing.length > 0) return show("waiting", "Not verified.", `Missing: ${missing.join(", ")}.`)
  // Copying may change line endings and drop the last newline.
  const proof = `${field("proof").value.replaceAll("\r\n", "\n").replace(/\n*$/u, "")}\n`
  const result = await verifyReceipt(field("receipt").value, proof, text("key"))
  if (result.valid) {
    const { leafIndex, origin, treeSize } = result
    const place = `Entry ${(leafIndex + 1).toLocaleString()} of ${treeSize.toLocaleString()} in ${origin}.`
    return show("valid", "Valid.", place)
  }
  if (result.reason !== "unsupported") return show("invalid", "Not valid.", result.message)
  show(
    "invalid",
    "Cannot verify in this browser.",
    isSecureContext
      ? "It does not support Ed25519. Use a current browser or the command line."
      : "Verification requires a page loaded over HTTPS or from localhost. Use HTTPS or the command line."
  )
}

const fieldFor = (content: string): string | undefined => {
  if (content.startsWith("c2sp.org/tlog-proof@")) return "proof"
  if (/^\S+\+[0-9a-f]{8}\+\S+\s*$/u.test(content)) return "key"
  return content.trimStart().startsWith("{") ? "receipt" : undefined
}

const readFiles = async (files: Iterable<File>): Promise<void> => {
  for (const file of files) {
    const content = file.size > FILE_BYTES_MAX ? "" : await file.text()
    const id = fieldFor(content)
    if (id === undefined) show("waiting", "Unknown file.", `${file.name} is not a receipt, a proof or a key.`)
    else field(id).value = content
  }
  if (FIELDS.every((id) => text(id) !== "")) await verify()
}

document.querySelector("#check")!.addEventListener("input", () => {
  if (verdict.matches(".valid, .invalid")) show("waiting", "Not verified.", "The input has changed.")
})
document.querySelector("#check")!.addEventListener("submit", (event) => {
  event.preventDefault()
  void verify()
})
document.querySelector<HTMLInputElement>("#files")!.addEventListener("change", (event) => {
  void readFiles((event.target as HTMLInputElement).files ?? [])
})
document.addEventListener("dragover", (event) => event.preventDefault())
document.addEventListener("drop", (event) => {
  event.preventDefault()
  void readFiles(event.dataTransfer?.files ?? [])
})
