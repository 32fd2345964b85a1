import type { Clock } from '../../protocol/clock.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { paused } from '../../protocol/paused.ts'

/** How registering goes. */
export interface Registering {
  readonly clock: Clock
  /** Ends it; it then resolves. */
  readonly signal: AbortSignal
  /** For development: workers take the place of all that were, at whatever address, and what those had not ended goes on with these. */
  readonly replace?: boolean
}

interface Answer {
  readonly status: number
  readonly text: string
}

const pauseMs = { first: 100, last: 2_000 } as const
/** The engine cannot reach the workers. */
const unreachable = /META0003/

/**
 * Tells an engine where its workers are, again and again until it has taken that: workers may be up before it. The same address twice is
 * one deployment.
 *
 * @throws RuntimeError `INVALID_OPTION` with what the engine says, when it refuses
 */
export async function registerDeployment(
  admin: string,
  uri: string,
  { clock, signal, replace = false }: Registering,
): Promise<void> {
  const engine = admin.replace(/\/+$/, '')
  for (let pause: number = pauseMs.first; !signal.aborted; pause = Math.min(pause * 2, pauseMs.last)) {
    if (replace) await moveDeployments(engine, uri, signal)
    const answer = await ask(`${engine}/deployments`, 'POST', { uri, force: replace, breaking: replace }, signal)
    if (answer !== undefined && answer.status < 300) return
    if (answer !== undefined && answer.status < 500 && !unreachable.test(answer.text))
      throw new RuntimeError('INVALID_OPTION', `The engine does not take ${uri}: ${messageIn(answer.text)}`)
    await paused(pause, clock, signal)
  }
}

/** What the engine holds for workers of before is for these now. */
async function moveDeployments(engine: string, uri: string, signal: AbortSignal): Promise<void> {
  const answer = await ask(`${engine}/deployments`, 'GET', undefined, signal)
  if (answer?.status !== 200) return
  const { deployments } = JSON.parse(answer.text) as { deployments: { id: string; uri: string }[] }
  for (const { id, uri: before } of deployments)
    if (before.replace(/\/+$/, '') !== uri) await ask(`${engine}/deployments/${id}`, 'PATCH', { uri }, signal)
}

/** `undefined`: nobody answers. */
async function ask(
  url: string,
  method: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const init = { method, headers, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  try {
    const response = await fetch(url, init)
    return { status: response.status, text: await response.text() }
  } catch {
    return undefined
  }
}

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly message?: unknown }).message)
  } catch {
    return text.slice(0, 500)
  }
}
