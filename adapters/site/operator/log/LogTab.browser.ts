/**
 * The transparency log, and how a witness follows it.
 */
import type { ComponentChildren } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, CodeBlock, CopyValue, facts, h, Notice, section, type View } from "../../console/View.browser.ts"
import { count } from "../../kit/Format.browser.ts"
import type { Logs } from "../lists/OperatorLists.browser.ts"

type Log = Logs["logs"][number]

const REFRESH_MS = 10_000

export const tab = (): View => {
  const { api } = useConsole()
  const logs = useResource(() => api.get<Logs>("/api/v1/market/log"), [], { refreshMs: () => REFRESH_MS })
  return section(
    "log",
    loaded(logs, ({ logs: all }) => all.toReversed().map((log) => h(OneLog, { key: String(log.log), log })))
  )
}

const OneLog = ({ log }: { readonly log: Log }): View =>
  h(
    "section",
    null,
    h("h2", null, `Log ${log.log}`),
    log.stopped === undefined ? undefined : h(Notice, { style: "bad" }, `This log was stopped: ${log.stopped}`),
    facts([
      ["State", log.open ? h(Badge, { label: "Open", style: "good" }) : h(Badge, { label: "Closed" })],
      ["Receipts", count(log.tree_size)],
      ["Root hash", h(CopyValue, { name: "the root hash", text: log.root_hash })],
      ["Public key", h(CopyValue, { name: "the public key", text: log.vkey })],
      ["Checkpoint", h("a", { href: log.checkpoint_url }, "Newest checkpoint")]
    ]),
    log.open ? h(Witness, { log }) : undefined
  )

/** `--listen` puts a witness's signed checkpoint and its key there. */
const WITNESS_ADDRESS = "<witness>:3100"

/** A witness runs elsewhere, with its own key, and only reads. */
const Witness = ({ log }: { readonly log: Log }): ComponentChildren => [
  h("h3", null, "Witness"),
  h(
    Notice,
    null,
    "This service does not know whether a witness follows the log: a witness reads it like any client and reports ",
    "nothing back. What it saw last is known only to the witness."
  ),
  h(
    "p",
    null,
    "A witness runs on another machine, checks that the log only grows, and signs what it saw. It stops, and keeps both ",
    "checkpoints as evidence, if the log shows a smaller or a different tree. To start one:"
  ),
  h(CodeBlock, {
    text:
      `npm run witness -- --log ${log.checkpoint_url.replace(/\/checkpoint$/u, "")} --vkey '${log.vkey}' ` +
      "--listen 0.0.0.0:3100"
  }),
  h(
    "p",
    null,
    "To see what it signed last, and how many receipts that covers, ask the witness. Compare the second line with ",
    `${count(log.tree_size)} above:`
  ),
  h(CodeBlock, { text: `curl http://${WITNESS_ADDRESS}/checkpoint` })
]
