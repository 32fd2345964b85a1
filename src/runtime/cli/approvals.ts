import { toolCallsOf } from '../../protocol/messages.ts'
import type { Agent } from '../agent.ts'
import { harmless, type Screen } from './terminal/screen.ts'

const noTerminal = 'nobody can be asked, as this is not a terminal; run with --yes to allow commands'

/** What becomes of a call that waits: a person is asked, or it is decided at once. */
export type ApprovalPolicy = 'ask' | 'deny' | 'approve'

/** `yes`: the person has allowed everything beforehand. */
export const approvalPolicy = (isLive: boolean, yes: boolean): ApprovalPolicy =>
  yes ? 'approve' : isLive ? 'ask' : 'deny'

interface HeldCall {
  readonly callId: string
  readonly name: string
  readonly input: unknown
}

/**
 * Answers the agent's requests for approval, one after the other, those that wait when it is resumed among them. Returns a
 * function that ends it.
 */
export function answerApprovals(agent: Agent, screen: Screen, policy: ApprovalPolicy): () => void {
  let run = new AbortController()
  let asked: Promise<void> = Promise.resolve()
  const allowed = new Set<string>()
  const decide = (callId: string, decision: 'approve' | 'deny', reason?: string): void => {
    // An abort may have come first.
    if (agent.pendingApprovals.includes(callId)) agent.decide(callId, decision, reason)
  }
  const ask = async ({ callId, name, input }: HeldCall, signal: AbortSignal): Promise<void> => {
    const command = (input as { command?: unknown } | undefined)?.command
    const shown = typeof command === 'string' ? command : JSON.stringify(input)
    if (allowed.has(shown)) return decide(callId, 'approve')
    if (!screen.isAtLineStart) screen.write('\n')
    screen.write(`  ? ${name}: ${harmless(shown)}\n`)
    const answer = (await screen.ask('  allow it? y = yes, a = always this command, n = no: ', signal))?.trim()
    if (answer === undefined && signal.aborted) return
    if (/^a(?:lways)?$/i.test(answer ?? '')) allowed.add(shown)
    if (/^(?:y(?:es)?|a(?:lways)?)$/i.test(answer ?? '')) decide(callId, 'approve')
    // Any other words are a reason, which the model reads.
    else decide(callId, 'deny', /^(?:no?)?$/i.test(answer ?? '') ? undefined : answer)
  }
  const answer = async (call: HeldCall, signal: AbortSignal): Promise<void> => {
    if (policy === 'ask') await ask(call, signal)
    else if (policy === 'approve') decide(call.callId, 'approve')
    else decide(call.callId, 'deny', noTerminal)
  }
  /** Not at once: the machine is still in the transition that asks. */
  const enqueue = (calls: () => readonly HeldCall[]): void => {
    const { signal } = run
    asked = asked.then(async () => {
      for (const call of calls()) await answer(call, signal)
    })
  }
  const unsubscribe = agent.subscribe((event) => {
    if (event.type === 'run.start') {
      run = new AbortController()
      if (event.cause === 'resume') enqueue(() => heldCalls(agent))
    } else if (event.type === 'run.end') run.abort(new Error('The run has ended.'))
    else if (event.type === 'tool.end' && agent.pendingApprovals.length === 0)
      run.abort(new Error('No call waits any more.'))
    else if (event.type === 'approval.requested') {
      if (run.signal.aborted) run = new AbortController()
      enqueue(() => [event])
    }
  })
  return () => {
    unsubscribe()
    run.abort(new Error('The session has ended.'))
  }
}

/** The calls that wait; their requests may have been told in another life of the agent. */
const heldCalls = (agent: Agent): HeldCall[] =>
  agent.conversation
    .log()
    .flatMap(({ message }) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))
    .filter(({ callId }) => agent.pendingApprovals.includes(callId))
