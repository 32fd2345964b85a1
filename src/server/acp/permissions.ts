import type { AgentContext, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Agent } from '../../runtime/agents/agent.ts'
import type { PendingApproval } from '../../runtime/agents/agentTree.ts'
import { callShape } from './toolCallShape.ts'

interface PermissionOptions {
  readonly sessionId: string
  readonly client: AgentContext
  /** Whether the connection is closed: then an answer does not count. */
  isClosed(): boolean
  /** Resolves once the client has been sent what came before. */
  flushed(): Promise<void>
}

const choices = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
] as const

const idOf = ({ agentId, callId }: { readonly agentId: string; readonly callId: string }): string =>
  `${agentId} ${callId}`

/** Asks a client about calls that wait for a decision, each once, and cancels a request that was decided elsewhere. */
export class Permissions {
  readonly #options: PermissionOptions
  readonly #asked = new Map<string, AbortController>()

  constructor(options: PermissionOptions) {
    this.#options = options
  }

  /** Never rejects. A client that cannot ask, or gives no valid answer, has denied. */
  async ask(agent: Agent, call: PendingApproval): Promise<void> {
    const id = idOf(call)
    if (this.#asked.has(id)) return
    const controller = new AbortController()
    this.#asked.set(id, controller)
    const { isClosed, flushed } = this.#options
    await flushed()
    const verdict = controller.signal.aborted ? undefined : await this.#verdict(agent, call, controller.signal)
    this.#asked.delete(id)
    if (verdict === undefined || controller.signal.aborted || isClosed()) return
    const isOwn = call.agentId === agent.id
    try {
      agent.decide(isOwn ? call.callId : call.key, verdict.decision, verdict.reason)
    } catch {
      // Somebody else was faster, or the agent has ended.
    }
  }

  /** A call was decided or has ended: cancels its request. */
  settle(call: { readonly agentId: string; readonly callId: string }): void {
    this.#asked.get(idOf(call))?.abort()
  }

  close(): void {
    for (const controller of this.#asked.values()) controller.abort()
  }

  async #verdict(agent: Agent, call: PendingApproval, signal: AbortSignal) {
    const { sessionId, client } = this.#options
    const isOwn = call.agentId === agent.id
    const { name, input, callId, key, agentId } = call
    const known = { toolCallId: isOwn ? callId : key, name, input, ...(isOwn ? {} : { agentId }) }
    const toolCall = { ...callShape(known), status: 'pending' } as const
    const request = { sessionId, toolCall, options: [...choices] }
    try {
      return verdictOf(
        await client.request('session/request_permission', request, {
          cancellationSignal: signal,
          stopWaitingOnCancel: true,
        }),
      )
    } catch {
      return { decision: 'deny', reason: 'The client could not ask for permission.' } as const
    }
  }
}

function verdictOf({ outcome }: RequestPermissionResponse): { decision: 'approve' | 'deny'; reason?: string } {
  if (outcome.outcome !== 'selected') return { decision: 'deny', reason: 'The question was dismissed.' }
  return outcome.optionId === 'allow' ? { decision: 'approve' } : { decision: 'deny', reason: 'Rejected by the user.' }
}
