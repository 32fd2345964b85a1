import { isRemembered } from '../../../src/protocol/remembered.ts'
import type { Message } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import type { NodeId } from '../../../src/protocol/ids.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { isCutOff, type DrivenAgent, type DrivenBelow } from '../../bridge/src/server/drivenAgent.ts'
import type { PartialReply } from './replyCursor.ts'
import { threadMessages, userMessageId } from './threadMessages.ts'
import type { CalledChild } from './writeAgUiEvents.ts'
import { contextTier } from './userInput.ts'

/** The conversation of a thread, and the activity of its agent and sub-agents. */
export class ThreadActivity {
  readonly agent: DrivenAgent
  /** Ids that clients gave to user messages, by node. */
  readonly messageIds = new Map<NodeId, string>()
  /** Replies under way, by agent. */
  readonly replies = new Map<string, PartialReply>()
  /** Turns under way, by agent. */
  readonly turns = new Map<string, number>()
  /** Sub-agents that were called and have not answered, by id. */
  readonly children = new Map<string, CalledChild>()

  constructor(agent: DrivenAgent) {
    this.agent = agent
  }

  messages(): Message[] {
    return threadMessages(this.agent.id, this.agent.conversation, this.messageIds)
  }

  /** Returns the text of the last reply in the given runs. */
  lastText(agentRunIds: readonly string[]): string {
    const last = this.agent.conversation
      .trunk()
      .findLast(
        (node) => agentRunIds.includes(node.runId) && (node.message.role === 'assistant' || node.ending !== undefined),
      )
    return last === undefined ? '' : textOf(last.message.content.filter((block) => block.type === 'text'))
  }

  /** True if the client has a user message, because it sent it as a message or as context. */
  hasMessage({ nodeId, message }: EventOf<'message.added'>): boolean {
    const { provenance } = message
    const isContext = provenance?.type === 'memoryTier' && provenance.tier === contextTier
    return this.messageIds.has(nodeId) || isContext || isRemembered(provenance)
  }

  /** Returns the id of a message that the client does not have. `undefined`: the client has it. */
  unseenMessageId(event: EventOf<'message.added'>): string | undefined {
    return this.hasMessage(event) ? undefined : userMessageId(this.agent.id, { id: event.nodeId }, this.messageIds)
  }

  /** Returns the sub-agent that carries out a call. */
  childOf({ agentId, callId }: { readonly agentId: string; readonly callId: string }): string | undefined {
    for (const child of this.children.values())
      if (child.agentId === agentId && child.callId === callId) return child.childId
    return undefined
  }

  /** Starts to follow the agent, including its current activity. */
  start(): void {
    const { id, growingReply } = this.agent
    if (growingReply !== undefined) this.replies.set(id, { ...growingReply, attempt: 1, calls: new Map() })
    const alive = new Set(idsBelow(this.agent))
    for (const childId of this.children.keys()) if (!alive.has(childId)) this.children.delete(childId)
  }

  /** Stops following the agent. */
  stop(): void {
    this.replies.clear()
    this.turns.clear()
  }

  /** Applies what an event starts or continues, before runs get it. */
  before(event: AgentEvent): void {
    const { agentId } = event
    if (event.type === 'turn.end') this.turns.delete(agentId)
    else if (event.type === 'reply.reset' || isCutOff(this.agent, event)) this.replies.delete(agentId)
    else if (event.type === 'reply.delta') this.#append(agentId, 'text', event.text)
    else if (event.type === 'thinking.delta') this.#append(agentId, 'thinking', event.text)
    else if (event.type === 'toolCall.delta') this.#appendToCall(event)
    else if (agentId === this.agent.id || this.children.has(agentId)) this.#begin(event)
  }

  /** Removes what an event ended, which runs may still have needed. */
  after(event: AgentEvent): void {
    const { agentId } = event
    if (event.type === 'reply.end') this.replies.delete(agentId)
    else if (event.type === 'tool.end') {
      const childId = this.childOf(event)
      if (childId !== undefined) this.children.delete(childId)
    } else if (event.type === 'run.end') {
      this.turns.delete(agentId)
      this.replies.delete(agentId)
      if (agentId === this.agent.id) this.children.clear()
    }
  }

  #begin(event: AgentEvent): void {
    const { agentId } = event
    if (event.type === 'turn.start') this.turns.set(agentId, event.turnIndex)
    else if (event.type === 'reply.start') {
      const { turnIndex, attempt } = event
      this.replies.set(agentId, { turnIndex, attempt, text: '', thinking: '', calls: new Map() })
    } else if (event.type === 'tool.start' && event.childId !== undefined)
      this.children.set(event.childId, { ...event, childId: event.childId })
  }

  #append(agentId: string, kind: 'text' | 'thinking', text: string): void {
    const reply = this.replies.get(agentId)
    if (reply !== undefined) reply[kind] += text
  }

  #appendToCall({ agentId, callId, name, text }: EventOf<'toolCall.delta'>): void {
    const calls = this.replies.get(agentId)?.calls
    const call = calls?.get(callId) ?? { text: '' }
    if (name !== undefined) call.name = name
    call.text += text
    calls?.set(callId, call)
  }
}

const idsBelow = (agent: DrivenBelow): string[] => agent.children().flatMap((child) => [child.id, ...idsBelow(child)])
