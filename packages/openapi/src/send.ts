import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { messageOf } from '../../../src/protocol/errors.ts'

/** A request that can be repeated. */
export interface Sending {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: RequestInit['body']
}

export interface SendRules {
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Origins to which requests may go. */
  readonly origins: ReadonlySet<string>
  /** True if a request that may have been carried out may be sent again. */
  readonly mayRepeat: boolean
}

/** Maximum number of redirects followed, and of retries for a busy service. */
const maxRedirects = 5
const maxRetries = 2

/** Maximum pause that a service may ask for, in milliseconds. Longer ones are for the model to decide. */
const maxPauseMs = 10_000

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request: redirects are followed within the service's own hosts, and a request is repeated after a short pause
 * that the service asks for. Rejects with an error for the model, and with the reason of `signal`.
 */
export async function send(sending: Sending, rules: SendRules): Promise<Response> {
  for (let retry = 0; ; retry += 1) {
    const response = await followed(sending, rules)
    const pauseMs = pauseOf(response, rules.clock)
    // 429 says that nothing was done, 503 does not.
    const mayRepeat = response.status === 429 || (response.status === 503 && rules.mayRepeat)
    if (!mayRepeat || pauseMs === undefined || pauseMs > maxPauseMs || retry === maxRetries) return response
    await response.body?.cancel()
    await pause(pauseMs, rules)
  }
}

async function followed(sending: Sending, rules: SendRules): Promise<Response> {
  let { method, url, body } = sending
  const headers = new Headers(sending.headers)
  for (let hop = 0; ; hop += 1) {
    const response = await once({ method, url, headers, body }, rules)
    const location = response.headers.get('location')
    if (!redirects.has(response.status) || location === null) return response
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    if (next === null || !rules.origins.has(next.origin)) {
      const where = next === null ? 'nowhere' : next.origin === 'null' ? next.protocol : next.origin
      throw new Error(
        `The service redirects to ${where} (${response.status}), which is not one of its servers: that was not followed.`,
      )
    }
    // A name or password in it would not be sent, but be told in an error.
    next.username = ''
    next.password = ''
    if (hop === maxRedirects) throw new Error(`The service redirects again and again (${response.status}).`)
    if (response.status === 303) {
      method = 'GET'
      body = undefined
      headers.delete('content-type')
    } else if (response.status < 303 && method !== 'GET' && method !== 'HEAD')
      throw new Error(
        `The service answers ${method} with a redirect to ${next.pathname} (${response.status}): that was not followed.`,
      )
    url = next
  }
}

async function once({ method, url, headers, body }: Sending, { signal }: SendRules): Promise<Response> {
  try {
    return await fetch(url, { method, headers, body: body ?? null, redirect: 'manual', signal })
  } catch (thrown) {
    signal.throwIfAborted()
    // The outer message says "fetch failed", and the address may hold a key.
    const cause = (thrown as { readonly cause?: unknown }).cause ?? thrown
    throw new Error(`The service at ${url.origin} could not be asked: ${messageOf(cause)}.`, { cause: thrown })
  }
}

/** Returns the pause that an answer asks for, in milliseconds. */
export function pauseOf(response: Response, clock: Clock): number | undefined {
  const given = response.headers.get('retry-after')
  if (given === null) return undefined
  const seconds = Number(given)
  if (given.trim() !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const at = Date.parse(given)
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.now())
}

function pause(ms: number, { signal, clock }: SendRules): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel()
      reject(signal.reason as Error)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
