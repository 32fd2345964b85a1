import type { ModelSettings } from '../../protocol/ports/model.ts'

/**
 * Returns settings without secrets. In `providerOptions` it blanks every value under `headers`, every text or object under a key named like
 * a secret, and every text that looks like a secret. Expects plain JSON and changes nothing in place.
 */
export function blankSettings(settings: ModelSettings): ModelSettings {
  const { providerOptions } = settings
  if (providerOptions === undefined) return settings
  return { ...settings, providerOptions: blankValue(providerOptions) as typeof providerOptions }
}

/** Returns `text` without anything that looks like a key. Errors of providers often quote keys. */
export const blankText = (text: string): string =>
  text.replaceAll(quotedKey, redactionMark).replaceAll(labelledSecret, (_, label: string) => label + redactionMark)

function blankValue(value: unknown): unknown {
  if (typeof value === 'string') return blankText(value)
  if (Array.isArray(value)) return value.map(blankValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, blankEntry(key, inner)]))
}

/** Blanks the value of an entry whose key is named like a secret. Numbers are kept, because `budgetTokens` would match too. */
function blankEntry(key: string, value: unknown): unknown {
  if (/^headers$/i.test(key)) return blankHeaders(value)
  const mayHide = typeof value === 'string' || (typeof value === 'object' && value !== null)
  return mayHide && secretName.test(key) ? redactionMark : blankValue(value)
}

const blankHeaders = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).map((name) => [name, redactionMark]))
    : redactionMark

/** Text that replaces a secret. */
export const redactionMark = '[redacted]'

/** Pattern of keys as provider errors quote them, whole or partly masked. Blanking a harmless word is better than showing a key. */
const quotedKey =
  /\bbearer\s+\S+|\bbasic\s+[\w.~+/=-]{8,}|\b(?:sk|rk|pk|gsk|xai|pplx|r8|hf|nvapi|ghp)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}/gi

/** Pattern of a value whose label marks it as a secret; the label is the first group. */
const labelledSecret = /((?:x-api-key|api[-_]?key|authorization|access[-_]token)["']?\s*[:=]\s*["']?)[^\s"',&]+/gi

/** Pattern of names that usually belong to secrets. */
const secretName = /api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw|passphrase|credential|auth|cookie/i
