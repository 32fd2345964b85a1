import { AgentCard } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from '@a2a-js/sdk/client'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { boundedFetch, type A2aAuth } from './boundedFetch.ts'

export interface A2aSettings {
  readonly name: string
  readonly url: string
  readonly auth: A2aAuth
  /** Milliseconds for each answer of the server that should come quickly. */
  readonly answerMs: number
}

/** Calls with a signal that aborts when the time for an answer is over, or when the given signal aborts. */
export function withinTime<T>(
  { answerMs }: Pick<A2aSettings, 'answerMs'>,
  ask: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const timeout = AbortSignal.timeout(answerMs)
  return ask(signal === undefined ? timeout : AbortSignal.any([signal, timeout]))
}

/** Reads the card of an agent, and connects as the card specifies. */
export async function connect(
  settings: A2aSettings,
  signal: AbortSignal,
): Promise<{ readonly client: Client; readonly card: AgentCard }> {
  const { url, auth, name } = settings
  const fetchImpl = boundedFetch(new URL(url).origin, auth)
  const timed: typeof fetch = (input, init) =>
    withinTime(settings, (limit) => fetchImpl(input, { ...init, signal: limit }), signal)
  const resolver = new DefaultAgentCardResolver({ fetchImpl: timed })
  const base = url.endsWith('/') || url.endsWith('.json') ? url : `${url}/`
  let card: AgentCard
  try {
    const given: unknown = await (base.endsWith('.json') ? resolver.resolve(base, '') : resolver.resolve(base))
    if (typeof given !== 'object' || given === null) throw new TypeError('it is no object')
    // Strangers leave fields out.
    card = AgentCard.fromJSON(given)
  } catch (thrown) {
    signal.throwIfAborted()
    const said = `The card of the agent "${name}" could not be read from ${url}: ${messageOf(thrown)}`
    throw isUnreachable(thrown) ? new RuntimeError('CHILD_CRASHED', `${said}.`) : new Error(said, { cause: thrown })
  }
  check(card, name)
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
  })
  try {
    return { client: await factory.createFromAgentCard(card), card }
  } catch (thrown) {
    const offered = card.supportedInterfaces.map((each) => `${each.protocolBinding} ${each.protocolVersion}`).join(', ')
    throw new Error(
      `The agent "${name}" cannot be talked to: its card offers ${offered || 'no interface'}, and this speaks JSONRPC and HTTP+JSON 1.0. ${messageOf(thrown)}`,
      { cause: thrown },
    )
  }
}

/** Checks a card, which is an unverified statement by a stranger. */
function check(card: AgentCard, name: string): void {
  const wrong = (what: string): Error => new Error(`The card of the agent "${name}" is none: ${what}.`)
  if (card.supportedInterfaces.length === 0) throw wrong('it names no interface at which the agent can be reached')
  const versions = card.supportedInterfaces.map(({ protocolVersion }) => protocolVersion)
  if (!versions.some((version) => /^1(?:\.|$)/.test(version)))
    throw new Error(
      `The agent "${name}" speaks version ${versions.join(', ')} of the Agent2Agent protocol, and this speaks 1.0.`,
    )
}

const isUnreachable = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (thrown.name === 'TimeoutError' ||
    (thrown instanceof TypeError && /fetch failed/i.test(thrown.message)) ||
    / 5\d\d\b/.test(thrown.message))
