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

/**
 * Whole keys in text of any kind, by the prefixes their issuers give them; strict, as prose and code must stay as they are:
 * API keys of model providers, tokens of GitHub, GitLab and Slack, AWS key ids, JSON web tokens, private keys in PEM.
 */
export const knownKeys: readonly RegExp[] = [
  /\b(?:sk|rk|pk|gsk|xai|pplx|r8|hf|nvapi)[-_](?=[\w-]*\d)[\w-]{16,}/g,
  /\b(?:gh[opsu]|github_pat|glpat|xox[abprs])[-_](?=[\w-]*\d)[\w-]{16,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*/g,
  /\bBearer\s+(?=[\w.~+/-]*\d)[\w.~+/-]{20,}=*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]
