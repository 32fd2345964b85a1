/** Serialises a value as JSON that is safe on a terminal: also escapes the control characters that JSON allows. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? 'null').replace(
    /[\u007F-\u009F]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
