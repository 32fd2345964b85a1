import type { RunAgentInput } from '@ag-ui/core'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'

/** A request: a run or a watch of a thread with its input, a stop of a thread's work, or a query for the served agents. */
export type Asked =
  | { readonly type: 'run' | 'connect'; readonly agent?: string; readonly body?: unknown }
  | { readonly type: 'stop'; readonly agent: string; readonly threadId: string; readonly body?: unknown }
  | { readonly type: 'info' }

/** Agent name that CopilotKit's clients send unless their page names one. */
const unnamed = 'default'

/**
 * Reads what is asked for at a path below the endpoint, where CopilotKit's client looks for the runtime of that project.
 * @throws RuntimeError `AGENT_NOT_FOUND` for a path where nothing is
 */
export function askedAt(pathname: string, path: string): Asked {
  const [, place, agent, what, threadId, ...more] = pathname.slice(path.length).split('/').map(decoded)
  if (place === undefined || (place === '' && agent === undefined)) return { type: 'run' }
  if (place === 'info' && agent === undefined) return { type: 'info' }
  const isAgent = place === 'agent' && agent !== undefined && agent !== '' && more.length === 0
  if (isAgent && (what === 'run' || what === 'connect') && threadId === undefined) return { type: what, agent }
  if (isAgent && what === 'stop' && threadId !== undefined && threadId !== '') return { type: what, agent, threadId }
  throw new RuntimeError(
    'AGENT_NOT_FOUND',
    'There is nothing here; there are "/info", "/agent/<name>/run", "/agent/<name>/connect" and "/agent/<name>/stop/<threadId>".',
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const isObject = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === 'object' && value !== null

/** Reads a request of CopilotKit, which names its method in the body instead of the path; `undefined` if the body is a `RunAgentInput`. */
export function askedIn(body: unknown): Asked | undefined {
  if (!isObject(body) || typeof body['method'] !== 'string' || 'runId' in body) return undefined
  const { method, params, body: inner } = body
  if (method === 'info') return { type: 'info' }
  const { agentId: agent, threadId } = isObject(params) ? params : {}
  if (typeof agent === 'string') {
    if (method === 'agent/run' || method === 'agent/connect')
      return { type: method === 'agent/run' ? 'run' : 'connect', agent, body: inner }
    if (method === 'agent/stop' && typeof threadId === 'string') return { type: 'stop', agent, threadId, body: inner }
  }
  throw new RuntimeError(
    'BRIDGE_FRAME',
    `method: there is no "${method}" with these params; there are info, agent/run, agent/connect and agent/stop.`,
  )
}

/**
 * Returns the definition of threads requested under an agent's name. `only` is the endpoint's definition.
 * @throws RuntimeError `AGENT_NOT_FOUND`
 */
export function definitionOf(
  access: AgentAccess,
  agent: string | undefined,
  only: string | undefined,
): string | undefined {
  if (agent === undefined) return only
  const served = only === undefined ? access.definitions : [only]
  if (served.includes(agent)) return agent
  if (agent === unnamed) return only
  throw new RuntimeError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(agent)} here.`)
}

/** Returns the served agents, which CopilotKit's client requests before anything else. */
export function infoOf(access: AgentAccess, only: string | undefined): object {
  const names = only === undefined ? access.knownDefinitions : [only]
  const all = names.length === 0 || names.includes(unnamed) ? names : [unnamed, ...names]
  const descriptions = access.descriptions ?? {}
  const agents = all.map((name) => [name, { name, className: 'HttpAgent', description: descriptions[name] ?? '' }])
  return {
    version: 'escapement',
    agents: Object.fromEntries(agents),
    mode: 'sse',
    audioFileTranscriptionEnabled: false,
    threadEndpoints: { list: false, inspect: false, mutations: false, realtimeMetadata: false },
    telemetryDisabled: true,
  }
}

/** Returns the id of the run to stop. `undefined`: whichever is under way. @throws RuntimeError `BRIDGE_FRAME` */
export function runToStop(body: unknown): string | undefined {
  if (body === undefined) return undefined
  if (isObject(body) && Object.keys(body).every((key) => key === 'runId')) {
    const { runId } = body
    if (runId === undefined || (typeof runId === 'string' && runId !== '')) return runId
  }
  throw new RuntimeError('BRIDGE_FRAME', 'The body is not { runId? }.')
}

/** Returns the input of a run turned into one that only watches. */
export const asLook = (input: RunAgentInput): RunAgentInput => ({ ...input, forwardedProps: { command: 'connect' } })
