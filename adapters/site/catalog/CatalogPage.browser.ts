/**
 * The interactive part of the catalog: a signed-in developer chooses tools for the toolbox.
 */
import { storedKey } from "../kit/Session.browser.ts"

// Readers without a key load nothing more.
if (storedKey("consumer") !== undefined) {
  void import("./ToolboxButtons.browser.ts").then(({ showToolboxButtons }) => showToolboxButtons())
}
