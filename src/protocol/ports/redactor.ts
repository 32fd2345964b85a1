/** Text that arrives in pieces, of which an end is held back that might begin a secret. */
export interface RedactedText {
  /** Returns the text that may be shown after this piece, and its position in the shown text; `undefined` if there is none yet. */
  push(text: string): { text: string; offset: number } | undefined
  /** Returns the rest at the end of the text. */
  end(): { text: string; offset: number } | undefined
}

/** Removes secrets from everything an agent says, receives and does, before it is recorded. */
export interface Redactor {
  /** The named secrets in every form; a new array after each addition. */
  readonly secrets: readonly string[]
  /** Adds secrets that are blanked from now on, also in texts that are still arriving. Secrets of fewer than 6 characters are ignored. */
  add(name: string, secrets: readonly string[]): void
  /** Like `add`, for secrets that are replaced again and again: only the newest of each name are blanked. */
  renew(name: string, secrets: readonly string[]): void
  /** Returns `text`, or a part of it judged in the context of the whole, without secrets. Returns the same string if it has none. */
  text(text: string, part?: { readonly from: number; readonly to: number }): string
  stream(): RedactedText
  /** Returns `text` that was cut off at its end without secrets, and without the beginning of a named secret that was cut in half. */
  cutOff(text: string): string
  /** Returns a copy of plain JSON without secrets in its texts and arbitrary keys; the same object if there are none. */
  value<T>(value: T): T
}

/** Returns true if something in a value was redacted earlier. */
export const isRedacted = (value: unknown): boolean => JSON.stringify(value ?? null).includes('[redacted')
