/**
 * The price in a tool's description is a sentence of its own, whatever the provider's text ends with.
 */
import { assert, it } from "@effect/vitest"
import { pricedTool } from "../../../domain/mcp/ToolOffer.ts"

const ENTRY = {
  price: 2_000n,
  maximum: 2_000n,
  billingPolicy: "success",
  freeTierCalls: 0,
  prices: {},
  priceVersion: 1
}
const PRICE = "Costs $0.002 per call."

const described = (description: string | undefined): string =>
  (JSON.parse(pricedTool(JSON.stringify({ name: "a", description }), ENTRY as never, true)) as { description: string })
    .description

it.each([
  [undefined, PRICE],
  ["", PRICE],
  ["Repeats.", `Repeats. ${PRICE}`],
  ["Repeats what you say (really!)", `Repeats what you say (really!) ${PRICE}`],
  ["繰り返す。", `繰り返す。 ${PRICE}`],
  ["Adds two numbers", `Adds two numbers\n\n${PRICE}`],
  ["See https://example.org/a", `See https://example.org/a\n\n${PRICE}`],
  ["Returns `{sum}`", `Returns \`{sum}\`\n\n${PRICE}`],
  ["One of:\n- a sum.\n- a product.", `One of:\n- a sum.\n- a product.\n\n${PRICE}`],
  ["Example:\n```\nadd(1, 2)\n```", `Example:\n\`\`\`\nadd(1, 2)\n\`\`\`\n\n${PRICE}`],
  ["Repeats.\n", `Repeats.\n\n\n${PRICE}`],
  ['Says "\\n"', `Says "\\n"\n\n${PRICE}`]
])("after %j", (description, expected) => {
  assert.strictEqual(described(description), expected)
})
