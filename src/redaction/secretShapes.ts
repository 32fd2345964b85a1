/** What stands where a secret was. */
export const redactionMark = '[redacted]'

/** Keys as an error of a provider quotes them, half masked or whole: better one word too many than a key. */
export const quotedKey =
  /\bbearer\s+\S+|\bbasic\s+[\w.~+/=-]{8,}|\b(?:sk|rk|pk|gsk|xai|pplx|r8|hf|nvapi|ghp)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}/gi

/** A value that its label says is a secret; the label is the first group. */
export const labelledSecret =
  /((?:x-api-key|api[-_]?key|authorization|access[-_]token)["']?\s*[:=]\s*["']?)[^\s"',&]+/gi

/** Names under which secrets are kept. */
export const secretName =
  /api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw|passphrase|credential|auth|cookie/i
