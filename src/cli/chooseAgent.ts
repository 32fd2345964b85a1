import type { Client } from '../client/client.ts'
import type { AgentSummary } from '../protocol/frames.ts'
import { checkAgentId } from '../protocol/ids.ts'
import type { Invocation } from './commandLine.ts'
import { exitCodes } from './cliHost.ts'
import { oneLine } from '../charts/plainText.ts'

/** The chosen agent, or why there is none. */
export type AgentChoice =
  | { readonly agentId: string }
  | { readonly refusal: string; readonly code: (typeof exitCodes)['failed' | 'usage'] }

const mostListed = 20

/**
 * Chooses the agent that was named, a newly spawned one, or the only one there is. Rejects with `INVALID_ID` and as `client.spawn`.
 */
export async function chooseAgent(
  client: Client,
  { before: [address = ''], task: id, spawn }: Pick<Invocation, 'before' | 'task' | 'spawn'>,
): Promise<AgentChoice> {
  if (id !== undefined) checkAgentId(id)
  if (spawn !== undefined) return { agentId: (await client.spawn(spawn, id === undefined ? {} : { id })).id }
  if (id !== undefined) return { agentId: id }
  const { agents, total } = await client.agents({ limit: mostListed })
  const [only] = agents
  if (only !== undefined && total === 1) return { agentId: only.agentId }
  const attach = `escapement attach ${address}`
  if (total === 0) return { refusal: noAgent(client, attach), code: exitCodes.failed }
  const more = total > agents.length ? [`  … ${total - agents.length} more`] : []
  const lines = [
    `There are ${total} agents. Name one, like: ${attach} ${only!.agentId}`,
    ...agents.map(agentLine),
    ...more,
  ]
  return { refusal: lines.join('\n'), code: exitCodes.usage }
}

const agentLine = ({ agentId, definition, state }: AgentSummary): string =>
  `  ${agentId}  ${oneLine(definition)} · ${oneLine(state)}`

function noAgent({ role, definitions }: Client, attach: string): string {
  const none = 'No agent runs there. One at rest is woken by its id'
  if (role !== 'admin' || definitions.length === 0) return `${none}: ${attach} <id>`
  const [only = ''] = definitions
  const names = definitions.length === 1 ? '' : ` (definitions: ${definitions.map(oneLine).join(', ')})`
  return `${none}; start a new one with: ${attach} --spawn ${definitions.length === 1 ? oneLine(only) : '<definition>'}${names}`
}
