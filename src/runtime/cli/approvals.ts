import type { EventOf } from '../../protocol/events.ts'
import type { Agent } from '../agent.ts'
import { harmless, type Screen } from './terminal/screen.ts'

const noTerminal = 'nobody can be asked, as this is not a terminal; run with --yes to allow commands'

/**
 * Answers the agent's requests for approval, one after the other: asks where there is somebody to ask, else denies with the
 * reason. Returns a function that ends it.
 */
export function answerApprovals(agent: Agent, screen: Screen, isInteractive: boolean): () => void {
  let run = new AbortController()
  let asked: Promise<void> = Promise.resolve()
  const allowed = new Set<string>()
  const decide = (callId: string, decision: 'approve' | 'deny', reason?: string): void => {
    // An abort may have come first.
    if (agent.pendingApprovals.includes(callId)) agent.decide(callId, decision, reason)
  }
  const ask = async ({ callId, name, input }: EventOf<'approval.requested'>, signal: AbortSignal): Promise<void> => {
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
  const unsubscribe = agent.subscribe((event) => {
    if (event.type === 'run.start') run = new AbortController()
    else if (event.type === 'run.end') run.abort(new Error('The run has ended.'))
    else if (event.type === 'tool.end' && agent.pendingApprovals.length === 0)
      run.abort(new Error('No call waits any more.'))
    else if (event.type === 'approval.requested') {
      if (run.signal.aborted) run = new AbortController()
      const { signal } = run
      // Not at once: the machine is still in the transition that asks.
      asked = asked.then(() => (isInteractive ? ask(event, signal) : decide(event.callId, 'deny', noTerminal)))
    }
  })
  return () => {
    unsubscribe()
    run.abort(new Error('The session has ended.'))
  }
}
