import type { ModelPart, ModelRequest } from '../../protocol/model.ts'

const blank = '[blanked]'
const secretName = /api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw|passphrase|credential|auth|cookie/i
/** How keys look wherever they stand: in a value, or quoted by a provider in the text of an error. */
const secretText = /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}|\b(?:sk|rk|pk|gsk|xai|ghp)[-_][\w*.-]{8,}|\bAIza[\w-]{20,}/gi

/**
 * A request without secrets: in `settings.providerOptions` every value under `headers`, every text or object under a key
 * named like a secret, and every text that looks like one are blanked. Expects plain JSON and changes nothing in place.
 */
export function blankRequest(request: ModelRequest): ModelRequest {
  const { providerOptions } = request.settings
  if (providerOptions === undefined) return request
  const blanked = blankValue(providerOptions) as typeof providerOptions
  return { ...request, settings: { ...request.settings, providerOptions: blanked } }
}

/** A part whose error text quotes no key; any other part as it is. */
export const blankPart = (part: ModelPart): ModelPart =>
  part?.type === 'error' && typeof part.error?.message === 'string'
    ? { ...part, error: { ...part.error, message: blankText(part.error.message) } }
    : part

/** `text` without what looks like a key. */
export const blankText = (text: string): string => text.replace(secretText, blank)

function blankValue(value: unknown): unknown {
  if (typeof value === 'string') return blankText(value)
  if (Array.isArray(value)) return value.map(blankValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, blankEntry(key, inner)]))
}

/** Numbers stay, or `budgetTokens` would go too. */
function blankEntry(key: string, value: unknown): unknown {
  if (/^headers$/i.test(key)) return blankHeaders(value)
  const mayHide = typeof value === 'string' || (typeof value === 'object' && value !== null)
  return mayHide && secretName.test(key) ? blank : blankValue(value)
}

const blankHeaders = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).map((name) => [name, blank]))
    : blank
