/**
 * `receipts`: lists, shows and verifies receipts.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Schemas } from "../../client/Contract.ts"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { cursor, given, json, limit, moreAfter, shown } from "./Flags.ts"
import { Market } from "./Market.ts"
import { receiptsVerify } from "./ReceiptsVerify.ts"
import { textFields, textTable } from "./TextTable.ts"

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
    from: Flag.String("from").pipe(Flag.withDescription("Earliest time, such as 2026-11-01T00:00:00Z"), Flag.optional),
    to: Flag.String("to").pipe(Flag.withDescription("Time before which the calls were"), Flag.optional)
  },
  Effect.fn("receipts list")(function* ({ json, limit, ...filters }) {
    const { ask } = yield* Market
    const [cursor, status, from, to] = [filters.cursor, filters.status, filters.from, filters.to].map(given)
    const query = {
      limit,
      ...(cursor === undefined ? {} : { cursor }),
      ...(status === undefined ? {} : { status: status as Schemas["Receipt"]["status"] }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to })
    }
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
    const { ask } = yield* Market
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
