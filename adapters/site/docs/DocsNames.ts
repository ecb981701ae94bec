/**
 * The chapter on tool names: qualified names, ids, bare names, handles.
 */
import { HANDLE_CHARS_MAX, HANDLE_CHARS_MIN } from "../../../domain/accounts/Handle.ts"
import { PINS_PER_CONSUMER_MAX } from "../../../domain/metering/NamePinStore.ts"
import { type Html, html } from "../kit/Html.ts"

export const toolNames: Html = html`<p>
    A call names its tool in one of three ways. Use the qualified name in programs: it always names the same tool.
  </p>
  <ul>
    <li>
      <strong>Qualified name</strong>, <code>"tool_name": "ada-tools/search"</code>: the provider's handle, a slash, and
      the tool's name. The catalog returns it as <code>qualified_name</code>.
    </li>
    <li><strong>ID</strong>, <code>"tool_id"</code>: does not change if the provider's handle changes.</li>
    <li>
      <strong>Bare name</strong>, <code>"tool_name": "search"</code>: the only listed tool of that name, or 409
      <code>DUPLICATE</code> with the qualified names in <code>candidates</code> if several providers list one. Your
      account's first successful call pins the name to the tool; a pin never moves. If a pinned tool is withdrawn, the
      name returns 410 <code>TOOL_WITHDRAWN</code> until that tool is listed again. Quotes and failed calls pin nothing.
    </li>
  </ul>
  <p>
    All keys of an account share its pins, at most ${PINS_PER_CONSUMER_MAX.toLocaleString("en-US")}. A bare name with
    <code>provider_id</code> neither uses nor creates a pin. The same rules apply to quotes (<code>dry_run</code>) and
    to calls that you report to <code>POST /api/v1/market/meter</code>. Calls reported by a provider name its own tools.
  </p>
  <p>
    <strong>Handles.</strong> A provider chooses its <code>handle</code> at registration, or gets one derived from its
    name: ${HANDLE_CHARS_MIN} to ${HANDLE_CHARS_MAX} lowercase letters, digits and single dashes, with no dash at the
    start or end. Reserved words and handles that resemble a verified provider's (such as <code>0</code> for
    <code>o</code>) are rejected with 422; handles that another provider has or had, with 409. The operator can change a
    handle; the previous one still names the same provider unless the operator retires it. Tool names may contain
    slashes but cannot begin with another provider's handle and a slash.
  </p>`
