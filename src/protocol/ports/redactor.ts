/** Text that arrives in pieces. An end that might begin a secret is held back. */
export interface RedactedText {
  /** Returns the text that may be shown after this piece, and its position in the shown text; `undefined` if there is none yet. */
  push(text: string): { text: string; offset: number } | undefined
  /** Returns the held-back rest once the text has ended. */
  end(): { text: string; offset: number } | undefined
}

/** Removes secrets from everything an agent receives, says and does, before it is recorded. */
export interface Redactor {
  /** The named secrets in all their forms. Each addition makes a new array. */
  readonly secrets: readonly string[]
  /** Adds secrets that are blanked from now on, also in texts that are still arriving. Secrets of fewer than 6 characters are ignored. */
  add(name: string, secrets: readonly string[]): void
  /** Adds secrets as `add` does, for secrets that are replaced again and again. Only the newest of each name are redacted. */
  renew(name: string, secrets: readonly string[]): void
  /** Returns `text` without secrets, or a part of it that is judged in the context of the whole. Returns the same string if it has none. */
  text(text: string, part?: { readonly from: number; readonly to: number }): string
  stream(): RedactedText
  /** Returns `text`, which was cut off at its end, without secrets and without the beginning of a named secret that was cut in half. */
  cutOff(text: string): string
  /** Returns a copy of plain JSON without secrets in its texts and arbitrary keys; the same object if there are none. */
  value<T>(value: T): T
}

/** Returns true if something in a value was redacted earlier. */
export const isRedacted = (value: unknown): boolean => JSON.stringify(value ?? null).includes('[redacted')
