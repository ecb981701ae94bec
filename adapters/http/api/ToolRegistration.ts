/**
 * Tools that a provider registers, lists and withdraws.
 */
import { Schema } from "effect"
import { TOOLS_PER_REQUEST_MAX } from "../../../domain/catalog/Catalog.ts"
import * as Field from "./Field.ts"
import * as shared from "./SharedFields.ts"
import { ToolBody, toolExample } from "./ToolBody.ts"

const several = [Schema.isMinLength(1), Schema.isMaxLength(TOOLS_PER_REQUEST_MAX)] as const

export const RegisterTools = Field.object("RegisterTools", "Tools to register or update.", {
  tools: Field.of(Schema.Array(ToolBody).check(...several), "Tools. An invalid tool does not affect the others.")
}).annotate({ examples: [{ tools: [toolExample] }] })

/** Decodes the list only: the tools are decoded one by one, so that an invalid one does not affect the others. */
export const RegisterToolsLenient = Schema.Struct({ tools: Schema.Array(Schema.Unknown).check(...several) })

export const RegisteredTools = Field.object("RegisteredTools", "Registered, updated and rejected tools.", {
  registered: Field.int("Number of registered or updated tools.", 1),
  errors: Field.int("Number of rejected tools.", 0),
  tools: Field.list(
    Schema.Struct({
      id: shared.toolId,
      tool_name: shared.toolName,
      qualified_name: shared.qualifiedName,
      action: Field.of(Schema.Literals(["created", "updated"]), "Whether the tool was created or updated.")
    }),
    "Registered and updated tools."
  ),
  tool_errors: Field.list(
    Schema.Struct({
      tool_name: shared.toolName,
      error: Field.string("Reason for the rejection.", "`category` is unknown.")
    }),
    "Rejected tools, with the reason.",
    []
  ),
  message: shared.message("1 registered.")
})

export const WithdrawnTool = Field.object("WithdrawnTool", "The withdrawn tool.", {
  withdrawn: Field.always(true),
  tool_id: shared.toolId,
  tool_name: shared.toolName,
  withdrawn_at: Field.timestamp("Time of the first withdrawal.", "2026-11-20T09:29:58.412Z"),
  message: shared.message("search is withdrawn. To list it again, send it to POST /api/market/tools.")
})
