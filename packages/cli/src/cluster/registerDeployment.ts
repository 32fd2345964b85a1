import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { withoutEnd } from '../../../../src/protocol/text/textEnds.ts'

/** Options of `registerDeployment`. */
export interface Registering {
  readonly clock: Clock
  /** Ends the attempts; the promise then resolves. */
  readonly signal: AbortSignal
  /** Called with the reason while registration fails: at first, whenever the reason changes, and about once a minute. */
  readonly told?: (why: string) => void
  /** True for development: the workers replace all earlier ones, at any address, and continue their unfinished work. */
  readonly replace?: boolean
}

/** Answer of the engine. `status` is 0 if there was none, and `text` then has the reason. */
interface Answer {
  readonly status: number
  readonly text: string
}

const pauseMs = { first: 100, last: 2_000 } as const
/** Time limit of one answer in milliseconds: the engine asks the workers before it answers. */
const mostWaitMs = 30_000
/** Milliseconds after which the same reason is reported again. */
const remindMs = 60_000
const mostChars = 500
/** Code of the engine's error when it cannot reach the workers. */
const unreachable = /META0003/

/**
 * Registers the address of the workers with an engine, and retries until it accepts, as workers may be up before the engine. Registering an address
 * twice yields one deployment.
 *
 * @throws RuntimeError `INVALID_OPTION` with the engine's message if it refuses
 */
export async function registerDeployment(
  admin: string,
  uri: string,
  { clock, signal, told = () => {}, replace = false }: Registering,
): Promise<void> {
  checkDeployment(admin, uri)
  const engine = withoutEnd(admin, '/')
  let last: { readonly why: string; readonly at: number } | undefined
  for (let waitMs: number = pauseMs.first; !signal.aborted; waitMs = Math.min(waitMs * 2, pauseMs.last)) {
    if (replace) await moveDeployments(engine, uri, signal)
    const answer = await ask(`${engine}/deployments`, 'POST', { uri, force: replace, breaking: replace }, signal)
    const { status, text } = answer
    if (status >= 200 && status < 300) return
    if (status >= 300 && status < 500 && !unreachable.test(text) && !passing.has(status))
      throw new RuntimeError('INVALID_OPTION', `The engine does not take ${uri}: ${messageIn(text)}`)
    if (signal.aborted) return
    const why =
      status === 0 ? `no engine answers at ${engine}: ${text}` : `the engine at ${engine} says: ${messageIn(text)}`
    if (last?.why !== why || clock.now() - last.at >= remindMs) {
      last = { why, at: clock.now() }
      told(why)
    }
    await pause(waitMs, clock, signal)
  }
}

/** Statuses of an overloaded engine, or of a proxy before it. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

/** Checks the two addresses. @throws RuntimeError `INVALID_OPTION` for addresses that can never work */
export function checkDeployment(admin: string, uri: string): void {
  checkUrl('--register', admin)
  checkUrl('--url', uri)
}

/** Checks the URL of an option; errors do not quote it, as it may contain a secret. @throws RuntimeError `INVALID_OPTION` */
export function checkUrl(option: string, text: string): void {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new RuntimeError('INVALID_OPTION', `${option} takes an address such as http://engine:8080.`)
  if (url.username !== '' || url.password !== '')
    throw new RuntimeError('INVALID_OPTION', `${option} takes an address without a user or password.`)
}

/** Moves all earlier deployments of an engine to the address of these workers. */
async function moveDeployments(engine: string, uri: string, signal: AbortSignal): Promise<void> {
  const answer = await ask(`${engine}/deployments`, 'GET', undefined, signal)
  if (answer.status !== 200) return
  const { deployments } = JSON.parse(answer.text) as { deployments: { id: string; uri: string }[] }
  for (const { id, uri: before } of deployments)
    if (withoutEnd(before, '/') !== uri) await ask(`${engine}/deployments/${id}`, 'PATCH', { uri }, signal)
}

async function ask(url: string, method: string, body: object | undefined, signal: AbortSignal): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const patience = AbortSignal.any([signal, AbortSignal.timeout(mostWaitMs)])
  const init = { method, headers, signal: patience, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  try {
    const response = await fetch(url, init)
    return { status: response.status, text: await response.text() }
  } catch (thrown) {
    // What is wrong with a connection stands in its cause.
    const { cause } = thrown as { readonly cause?: unknown }
    return { status: 0, text: failureWords(cause ?? thrown) }
  }
}

/** Describes a connection error. If a name has several addresses, each one's error is described, as the error as a whole says nothing. */
const failureWords = (thrown: unknown): string =>
  thrown instanceof AggregateError ? thrown.errors.map(messageOf).join('; ') : messageOf(thrown)

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly message?: unknown }).message).slice(0, mostChars)
  } catch {
    return text.slice(0, mostChars)
  }
}
