import type { ModelError, ModelPart, ModelRequest, ModelSettings } from '../../protocol/ports/model.ts'

/**
 * A request without secrets: in `settings.providerOptions` every value under `headers`, every text or object under a key
 * named like a secret, and every text that looks like one are blanked. Expects plain JSON and changes nothing in place.
 */
export function blankRequest(request: ModelRequest): ModelRequest {
  const settings = blankSettings(request.settings)
  return settings === request.settings ? request : { ...request, settings }
}

/** The same of settings alone. */
export function blankSettings(settings: ModelSettings): ModelSettings {
  const { providerOptions } = settings
  if (providerOptions === undefined) return settings
  return { ...settings, providerOptions: blankValue(providerOptions) as typeof providerOptions }
}

/** A part whose error text quotes no key; any other part as it is. */
export const blankPart = (part: ModelPart): ModelPart =>
  part?.type === 'error' && typeof part.error?.message === 'string'
    ? { ...part, error: blankError(part.error) }
    : part?.type === 'model' && typeof part.after?.message === 'string'
      ? { ...part, after: blankError(part.after) }
      : part

const blankError = (error: ModelError): ModelError => ({ ...error, message: blankText(error.message) })

/** `text` without what looks like a key: for the errors of providers, which like to quote them. */
export const blankText = (text: string): string =>
  text.replaceAll(quotedKey, redactionMark).replaceAll(labelledSecret, (_, label: string) => label + redactionMark)

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
  return mayHide && secretName.test(key) ? redactionMark : blankValue(value)
}

const blankHeaders = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).map((name) => [name, redactionMark]))
    : redactionMark

/** Mark in place of a secret. */
export const redactionMark = '[redacted]'

/** Keys as an error of a provider quotes them, half masked or whole: better one word too many than a key. */
const quotedKey =
  /\bbearer\s+\S+|\bbasic\s+[\w.~+/=-]{8,}|\b(?:sk|rk|pk|gsk|xai|pplx|r8|hf|nvapi|ghp)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}/gi

/** A value that its label says is a secret; the label is the first group. */
const labelledSecret = /((?:x-api-key|api[-_]?key|authorization|access[-_]token)["']?\s*[:=]\s*["']?)[^\s"',&]+/gi

/** Names under which secrets are kept. */
const secretName = /api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw|passphrase|credential|auth|cookie/i
