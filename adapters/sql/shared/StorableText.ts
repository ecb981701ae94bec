/**
 * PostgreSQL stores neither NUL nor unpaired surrogates, and rejects a query with them: no row can match such a text.
 */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")
