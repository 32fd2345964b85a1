import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { isAgentId } from '../../../../src/protocol/ids.ts'
import { statePatchIn } from '../../../bridge/src/client/fold/foldAppState.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { stateIn } from '../../../bridge/src/server/snapshots.ts'
import type { AgentTool } from './agentTool.ts'

const scheme = 'state://'
const mimeType = 'application/json'

/** Maximum number of resources that are listed. Others can be read by their address. */
const mostListed = 100
/** Maximum number of resources that a connection, or a listening request, watches. */
const mostWatched = 100

export const uriOf = (session: string): string => `${scheme}${encodeURIComponent(session)}`

type Tools = ReadonlyMap<string, AgentTool>

/** Returns true if one of the agents has state. */
export const haveState = (tools: Tools): boolean =>
  [...tools.values()].some(({ definition }) => definition.state !== null)

export const stateTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: `${scheme}{session}`,
    name: 'state',
    title: 'State of a session',
    description: 'The state that an agent shares with its application: { version, state }.',
    mimeType,
  },
]

/** Lists the states of running sessions, for a client that may see them. */
export function listStates(tools: Tools, access: AgentAccess): Resource[] {
  if (!access.may('see.all')) return []
  const running = access.agents().filter(({ definition }) => (tools.get(definition)?.definition.state ?? null) !== null)
  return running.slice(0, mostListed).map(({ id, definition }) => ({
    uri: uriOf(id),
    name: id,
    title: `State of ${id} (${definition})`,
    mimeType,
  }))
}

/** Resolves with the state of a session, without waking it. Rejects as `foundBy` does. */
export async function readState(tools: Tools, access: AgentAccess, uri: string): Promise<ReadResourceResult> {
  const { agent, value, version } = await foundBy(tools, access, uri)
  access.checkAdmitted()
  const text = JSON.stringify({ version, state: access.redact(value), session: agent.id })
  return { contents: [{ uri, mimeType, text }] }
}

/** Rejects with `BRIDGE_FORBIDDEN`, `AGENT_NOT_FOUND`, `INVALID_OPTION`, `STATE_OFF`, and as the store does. */
async function foundBy(
  tools: Tools,
  access: AgentAccess,
  uri: string,
): Promise<{ readonly agent: DrivenAgent; readonly value: unknown; readonly version: number }> {
  access.must('see.all', 'resources')
  const session = sessionIn(uri)
  const agent = await access.reading(session)
  if (agent.path.length > 0)
    throw new RuntimeError('AGENT_NOT_FOUND', `Agent "${session}" is a sub-agent: a session is a root agent.`)
  const definition = tools.get(agent.definition)?.definition
  if (definition === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      `uri: "${session}" is an agent of "${agent.definition}", which is no tool here.`,
    )
  const { appState } = stateIn(agent.conversation, definition)
  if (appState === undefined) throw new RuntimeError('STATE_OFF', `Agent "${session}" has no state.`)
  return { agent, ...appState }
}

/** @throws RuntimeError `INVALID_OPTION` */
function sessionIn(uri: string): string {
  const session = uri.startsWith(scheme) ? decoded(uri.slice(scheme.length)) : ''
  if (isAgentId(session)) return session
  const shown = JSON.stringify(uri.slice(0, 200))
  throw new RuntimeError('INVALID_OPTION', `uri: ${shown} is no resource of this server: give "${scheme}<session>".`)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** States of whose changes a client is notified. Its listeners are called once for each step of an agent that changed its state. */
export class WatchedStates {
  readonly #tools: Tools
  readonly #changed: (uri: string) => void
  readonly #ends = new Map<string, () => void>()

  constructor(tools: Tools, changed: (uri: string) => void) {
    this.#tools = tools
    this.#changed = changed
  }

  /** Begins to report changes of a state. Idempotent. Rejects as `readState` does, and with `INVALID_OPTION` above the maximum number. */
  async add(access: AgentAccess, uri: string): Promise<void> {
    const { agent } = await foundBy(this.#tools, access, uri)
    access.checkAdmitted()
    if (this.#ends.has(uri)) return
    if (this.#ends.size >= mostWatched)
      throw new RuntimeError('INVALID_OPTION', `A client is told of ${mostWatched} states at most; end some first.`)
    const end = agent.subscribe((event) => {
      if (event.agentId === agent.id && statePatchIn(event) !== undefined) this.#changed(uri)
    })
    this.#ends.set(uri, end)
  }

  remove(uri: string): void {
    this.#ends.get(uri)?.()
    this.#ends.delete(uri)
  }

  /** Ends all notifications. Idempotent. */
  close(): void {
    for (const uri of this.#ends.keys()) this.remove(uri)
  }
}
