/**
 * Hidden characters in text that was stored before names and descriptions were checked: the browser's `escapeHidden` of
 * `domain/shared/PlainText.ts`.
 */
const SHOWN = new RegExp(
  String.raw`(?![\n\t]|\r\n|(?<=[^\0-\u052f])[\u200c\u200d])(?:(?![\ufe0e\ufe0f])` +
    String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]` +
    String.raw`|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f](?!\u20e3))`,
  "gu"
)

export const escapeHidden = (text: string): string =>
  text.replace(SHOWN, (char) => `[U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`)

/** JSON whose texts are shown. */
export const parseShown = (json: string): unknown =>
  JSON.parse(json, (_key, value: unknown) => (typeof value === "string" ? escapeHidden(value) : value))
