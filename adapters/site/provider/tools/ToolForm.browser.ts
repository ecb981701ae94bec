/**
 * The form that lists or edits a tool.
 */
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { ApiError } from "../../kit/ApiRequest.browser.ts"
import type { Declaration } from "../../kit/ApiResponses.browser.ts"
import { declarationOf, fieldsOf, withFieldNames } from "./ToolDeclaration.browser.ts"
import { putTool } from "./ToolRequests.browser.ts"

export interface ToolFormProps {
  readonly id: string
  /** Undefined to list a new one. */
  readonly tool: Declaration | undefined
  readonly saved: (declared: Declaration) => Promise<void>
}

export const ToolForm = ({ id, saved, tool }: ToolFormProps): View => {
  const { api } = useConsole()
  return h(
    "div",
    { class: "fields" },
    h(InputForm, {
      id,
      fields: fieldsOf(tool),
      submit: tool === undefined ? "List tool" : "Save tool",
      keepsValues: true,
      send: async (values, idempotencyKey) => {
        const declared = declarationOf(values, tool)
        try {
          await putTool(api, declared, idempotencyKey)
        } catch (error) {
          throw error instanceof ApiError ? withFieldNames(error, declared.tool_name) : error
        }
        await saved(declared)
      }
    })
  )
}
