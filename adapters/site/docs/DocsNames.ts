/**
 * How tools are named: what a bare name, a qualified name and an id mean, for those who call and for those who offer.
 */
import { HANDLE_CHARS_MAX, HANDLE_CHARS_MIN } from "../../../domain/accounts/Handle.ts"
import { PINS_PER_CONSUMER_MAX } from "../../../domain/metering/NamePinStore.ts"
import { type Html, html } from "../kit/Html.ts"

export const names: Html = html`<p>
    A call names its tool in one of three ways. Use the first one in programs: it names the same tool to every account,
    for good.
  </p>
  <ul>
    <li>
      <strong>Qualified name</strong>, <code>"tool_name": "ada-tools/search"</code>: the provider's handle, a slash, and
      the tool's name. The catalog shows it as <code>qualified_name</code>.
    </li>
    <li>
      <strong>Id</strong>, <code>"tool_id"</code>: the same tool as its qualified name, whatever its provider is called.
    </li>
    <li>
      <strong>Bare name</strong>, <code>"tool_name": "search"</code>: the tool of your account's first successful call
      of that name. That call pins the name, and a pin never moves, whatever other providers list later. Once the tool
      is withdrawn, the name answers 410 <code>TOOL_WITHDRAWN</code>; it works again when the same tool is listed again.
      Quotes and failed calls pin nothing. A name that your account has not called with success yet goes to the only
      listed tool of that name. If several providers list one, the call is 409 <code>DUPLICATE</code>:
      <code>candidates</code> has their qualified names, and nothing is charged.
    </li>
  </ul>
  <p>
    Pins belong to the account, so all of its keys share them; an account has at most
    ${PINS_PER_CONSUMER_MAX.toLocaleString("en-US")}. <code>provider_id</code> beside a bare name neither uses nor makes
    a pin. The same rules hold for quotes (<code>dry_run</code>) and for calls that you report to
    <code>POST /api/v1/market/meter</code>. A provider that reports calls means its own tools.
  </p>
  <p>
    <strong>Handles.</strong> A provider chooses its handle at registration (<code>handle</code>), or gets one derived
    from its name: ${HANDLE_CHARS_MIN} to ${HANDLE_CHARS_MAX} lowercase letters, digits and single dashes, with no dash
    at the start or end. Some words are reserved. A handle that looks like a verified provider's, for example with
    <code>0</code> for <code>o</code> or without its dash, is refused (422). A handle that is taken, or was ever used by
    another provider, is 409. The operator can give a provider another handle; the previous one goes on to name the same
    provider unless the operator retires it. A tool's own name may contain slashes, but cannot begin with another
    provider's handle and a slash.
  </p>`
