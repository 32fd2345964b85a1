import { blankText } from '../../../../src/log/redaction/blankSecrets.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import type { ModelError, ModelErrorKind } from '../../../../src/protocol/ports/model.ts'

/** Maximum length of a stored error message in UTF-16 units. Some proxies respond with whole pages. */
const maxMessageChars = 1000

/** The fields of AI SDK errors, of provider error objects in a stream, and of Node's network errors. */
interface Failure {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly type?: unknown
  readonly statusCode?: unknown
  readonly status?: unknown
  readonly responseHeaders?: unknown
  readonly responseBody?: unknown
  readonly data?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/**
 * Classifies a failed call. Never throws. Errors are recognised by their fields, including those of causes and retried errors, so
 * that no AI SDK class is needed. Keys and tokens are redacted from the message.
 */
export function readError(thrown: unknown): ModelError {
  const failures = chainOf(thrown)
  const http = failures.find((failure) => (statusOf(failure) ?? 0) >= 400)
  const status = http === undefined ? undefined : statusOf(http)
  const wording = failures.map(wordsOf).join('\n')
  const kind = kindOf(status, failures, wording)
  const retryAfterMs = http === undefined ? undefined : readRetryAfter(http)
  return {
    kind,
    message: describe(failures, http, thrown),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function kindOf(status: number | undefined, failures: readonly Failure[], wording: string): ModelErrorKind {
  if ((status === 429 || status === 400) && outOfQuota.test(wording)) return 'auth'
  if (status === 429) return 'rateLimited'
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 413) return 'overflow'
  // Their messages quote the stream, so their wording says nothing about the cause.
  const quotesStream = failures.some((failure) => /JSONParseError|TypeValidationError/.test(labelsOf(failure)))
  if (!quotesStream && overflowWording.test(wording)) return 'overflow'
  if (status === 408 || (status !== undefined && status >= 500)) return 'network'
  if (quotesStream) return 'other'
  if (status === 400 && failures.every(saysNothing)) return 'overflow'
  if (status !== undefined) return 'badRequest'
  for (const failure of failures) {
    for (const [pattern, kind] of namedKinds) if (pattern.test(labelsOf(failure))) return kind
  }
  return brokenWording.test(wording) ? 'network' : 'other'
}

/** Names, codes and types of errors that come without an HTTP status. */
const namedKinds: readonly (readonly [RegExp, ModelErrorKind])[] = [
  [/insufficient_quota/i, 'auth'],
  [/rate_?limit|too_many_requests|\b429\b/i, 'rateLimited'],
  [/overloaded|server_error|api_error|timeout|service_unavailable|\b5\d\d\b/i, 'network'],
  [
    /\b(ECONN[A-Z]{1,20}|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w{1,60}|ERR_SOCKET\w{0,60})\b/,
    'network',
  ],
  [/ConnectionRefused|ConnectionClosed|FailedToOpenSocket|AbortError|EmptyResponseBodyError/, 'network'],
  [/LoadAPIKeyError|authentication_error|permission_error|invalid_api_key|\b40[13]\b/i, 'auth'],
  [
    /NoSuchModelError|UnsupportedFunctionality|Invalid(Argument|Prompt)Error|invalid_request_error|\b400\b/i,
    'badRequest',
  ],
]

/** Patterns of messages about an exhausted account, which providers send with the status of a rate limit or a bad request. */
const outOfQuota =
  /insufficient[_ ](quota|balance|credits?|funds)|(credit )?balance is too low|out of credits|exceeded_current_quota_error|billing_hard_limit/i

/** True for Cerebras's answer to a request that is too long: status 400 and no message. */
const saysNothing = ({ message, responseBody }: Failure): boolean =>
  (typeof responseBody !== 'string' || responseBody.trim() === '') &&
  (typeof message !== 'string' || /^(Bad Request)?$/i.test(message))

/** Patterns of messages in which known providers report that a request exceeds the model's context. */
const overflowWording = new RegExp(
  [
    'context_length_exceeded',
    'prompt is too long',
    'prompt too long',
    'exceeds? (the )?(model.s )?(maximum )?context (limit|length|window|size)',
    'exceeds the available context size',
    'context window exceeds',
    'maximum context length',
    'greater than the context length',
    'input token count.{0,200}exceeds',
    'input is too long',
    'maximum prompt length',
    'exceeded model token limit',
    'reduce the length of the (messages|prompt)',
    'too many (input )?tokens',
    'input length.{0,200}exceeds?',
    'range of input length should be',
    'input tokens exceed the configured limit',
    'prompt token count of .{0,200}exceeds',
    'max_prompt_tokens_exceeded',
    '(prompt|input|request) exceeds (the )?max(imum)? (prompt |input )?length',
    'inputs?.{0,2} tokens \\+ .{0,2}max_new_tokens.{0,2} must be',
    'model.s context length is only',
    'longer than the model.s (maximum )?context length',
    'token limit exceeded',
  ].join('|'),
  'i',
)

const brokenWording = /fetch failed|\bterminated\b|socket hang up|premature close|network error|ended without/i

/** Returns the error with its causes and collected errors, nearest first. Bounded, since an error may be its own cause. */
function chainOf(thrown: unknown): Failure[] {
  const chain: Failure[] = []
  const queue: unknown[] = [thrown]
  while (queue.length > 0 && chain.length < 16) {
    const next = queue.shift()
    if (typeof next !== 'object' || next === null) continue
    const failure: Failure = next
    chain.push(failure)
    // The last of several retried errors is the one that counts.
    if (Array.isArray(failure.errors)) queue.push(...failure.errors.toReversed())
    queue.push(failure.cause)
  }
  return chain
}

function statusOf(failure: Failure): number | undefined {
  const status = failure.statusCode ?? failure.status
  return typeof status === 'number' ? status : undefined
}

const labelsOf = (failure: Failure): string =>
  [failure.name, failure.code, failure.type].filter((label) => ['string', 'number'].includes(typeof label)).join(' ')

const wordsOf = (failure: Failure): string =>
  [failure.code, failure.type, failure.message, failure.responseBody]
    .filter((word) => typeof word === 'string')
    .join('\n')

function describe(failures: readonly Failure[], http: Failure | undefined, thrown: unknown): string {
  const said = http === undefined ? saidByAll(failures) || messageOf(thrown) : saidBy(http)
  const text = blankText(said.replaceAll(/\s+/g, ' ').trim())
  const short = cutEnd(text, maxMessageChars)
  if (http === undefined) return short || 'The provider gave no reason.'
  return short === '' ? `HTTP ${statusOf(http)}` : `HTTP ${statusOf(http)}: ${short}`
}

/** Returns the messages from the outermost error to the cause, without repeats. */
function saidByAll(failures: readonly Failure[]): string {
  let said = ''
  for (const { message } of failures) {
    if (typeof message === 'string' && message !== '' && !said.includes(message))
      said += (said === '' ? '' : ': ') + message
  }
  return said
}

/** Returns the provider's own message. The JSON body is more specific than an HTTP status text. */
function saidBy(failure: Failure): string {
  const message = typeof failure.message === 'string' ? failure.message : ''
  const body = typeof failure.responseBody === 'string' ? bodyMessage(failure.responseBody) : ''
  if (body === '' || message.includes(body)) return message || messageOf(failure.data ?? failure)
  return /^[\w -]{0,40}$/.test(message) ? body : message
}

function bodyMessage(text: string): string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return text.trimStart().startsWith('<') ? '' : text
  }
  for (const candidate of [
    field(field(body, 'error'), 'message'),
    field(body, 'message'),
    field(body, 'detail'),
    field(body, 'error'),
  ]) {
    if (typeof candidate === 'string') return candidate
  }
  return ''
}

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

/**
 * Returns the delay in milliseconds, from the headers or, for Google, from the body. A date is taken relative to the `date` header, so that the
 * clocks need not agree. A delay of zero counts as none.
 */
function readRetryAfter({ responseHeaders: headers, responseBody }: Failure): number | undefined {
  const after = headerOf(headers, 'retry-after') ?? ''
  const [, delay] =
    /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(typeof responseBody === 'string' ? responseBody : '') ?? []
  const waits = [
    amountOf(headerOf(headers, 'retry-after-ms') ?? ''),
    amountOf(after) * 1000,
    Date.parse(after) - Date.parse(headerOf(headers, 'date') ?? ''),
    Number(delay) * 1000,
  ]
  const wait = waits.find((ms) => ms > 0)
  return wait === undefined ? undefined : Math.round(wait)
}

const amountOf = (text: string): number => (/^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : NaN)

function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name && typeof value === 'string') return value
  }
  return undefined
}
