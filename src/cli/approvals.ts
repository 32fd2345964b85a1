import { messageOf } from '../protocol/errors.ts'
import { decideCall, type ChatAgent } from './chatAgent.ts'
import type { PendingApproval } from '../runtime/agents/agentTree.ts'
import { withoutControls } from '../charts/plainText.ts'
import type { Screen } from './terminal/screen.ts'

const noTerminal = 'nobody can be asked, as this is not a terminal; run with --yes to allow commands'

/** What becomes of a call that waits: a person is asked, it is decided at once, or it is left to somebody else. */
export type ApprovalPolicy = 'ask' | 'deny' | 'approve' | 'leave'

/** `yes`: the person has allowed everything beforehand. */
export const approvalPolicy = (isLive: boolean, yes: boolean): ApprovalPolicy =>
  yes ? 'approve' : isLive ? 'ask' : 'deny'

export interface Approvals {
  /** Takes up the calls that wait already, as after a reconnect or a resume. */
  look(): void
  end(): void
}

const idOf = ({ agentId, callId }: Pick<PendingApproval, 'agentId' | 'callId'>): string => `${agentId}/${callId}`

/** What a person says to a question; `undefined` when it is neither a yes nor a no. Pure. */
export function readAnswer(
  said: string,
): { readonly decision: 'approve' | 'deny'; readonly isAlways?: true; readonly reason?: string } | undefined {
  const answer = said.trim()
  if (/^y(?:es)?$/i.test(answer)) return { decision: 'approve' }
  if (/^a(?:lways)?$/i.test(answer)) return { decision: 'approve', isAlways: true }
  const [, reason] = /^no?(?:[\s,:;.!]+(.*))?$/is.exec(answer) ?? []
  if (reason !== undefined && reason !== '') return { decision: 'deny', reason }
  return /^no?\W*$/i.test(answer) ? { decision: 'deny' } : undefined
}

const notUnderstood = '  (neither yes nor no: y, a, n, or n and why not, which the agent reads)\n'

/** All of what a call is given: that of a command alone as one types it. */
function inputText(input: unknown): string {
  const { command, ...rest } = (typeof input === 'object' && input !== null ? input : {}) as { command?: unknown }
  if (typeof command !== 'string') return JSON.stringify(input) ?? ''
  return Object.keys(rest).length === 0 ? command : `${command} ${JSON.stringify(rest)}`
}

/** Names an agent, a tool and a whole input; the same for two calls of all three alike, whatever the order of fields. */
const sameCall = ({ agentId, name, input }: PendingApproval): string =>
  JSON.stringify([agentId, name, input], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/**
 * Answers the agent's requests for approval, one after the other, those that wait when it is resumed among them. A question that
 * somebody else has answered is withdrawn.
 */
export function answerApprovals(agent: ChatAgent, screen: Screen, policy: () => ApprovalPolicy): Approvals {
  let asked: Promise<void> = Promise.resolve()
  /** Calls that are asked about or will be. */
  const open = new Map<string, AbortController>()
  const allowed = new Set<string>()
  const isPending = (call: PendingApproval): boolean => agent.approvals().some((other) => idOf(other) === idOf(call))
  const decide = async (call: PendingApproval, decision: 'approve' | 'deny', reason?: string): Promise<void> => {
    // An abort may have come first, or somebody else.
    if (isPending(call)) await decideCall(agent, call, decision, reason)
  }
  const ask = async (call: PendingApproval, signal: AbortSignal): Promise<void> => {
    const { agentId, name, input } = call
    const same = sameCall(call)
    if (allowed.has(same)) return decide(call, 'approve')
    const whose = agentId === agent.id ? '' : ` (of ${agentId})`
    let isAgain = false
    while (!signal.aborted) {
      if (!screen.isAtLineStart) screen.write('\n')
      screen.write(isAgain ? notUnderstood : `  ? ${withoutControls(`${name}: ${inputText(input)}`)}${whose}\n`)
      const said = await screen.ask('  allow it? y = yes, a = always this, n = no, n <why>: ', signal)
      if (said === undefined) return signal.aborted ? undefined : decide(call, 'deny')
      const answer = readAnswer(said)
      if (answer?.isAlways === true) allowed.add(same)
      if (answer !== undefined) return decide(call, answer.decision, answer.reason)
      isAgain = true
    }
  }
  const answer = async (call: PendingApproval, signal: AbortSignal): Promise<void> => {
    const how = policy()
    if (signal.aborted || how === 'leave') return
    if (how === 'ask') await ask(call, signal)
    else if (how === 'approve') await decide(call, 'approve')
    else await decide(call, 'deny', noTerminal)
  }
  /** Not at once: the machine is still in the transition that asks. */
  const enqueue = (call: PendingApproval): void => {
    if (open.has(idOf(call))) return
    const controller = new AbortController()
    open.set(idOf(call), controller)
    asked = asked
      .then(() => answer(call, controller.signal))
      .catch((thrown: unknown) => screen.write(`! ${withoutControls(messageOf(thrown))}\n`))
  }
  const look = (): void => {
    for (const call of agent.approvals()) enqueue(call)
  }
  const close = (why: string, fits: (id: string) => boolean = () => true): void => {
    for (const [id, controller] of open) {
      if (!fits(id)) continue
      open.delete(id)
      controller.abort(new Error(why))
    }
  }
  const unsubscribe = agent.subscribe((event) => {
    if (event.type === 'approval.requested') enqueue(event)
    else if (event.type === 'approval.decided' || event.type === 'tool.end')
      close('The call does not wait any more.', (id) => id === idOf(event))
    else if (event.agentId !== agent.id) return
    else if (event.type === 'run.end') close('The run has ended.')
    else if (event.type === 'run.start' && event.cause === 'resume') asked = asked.then(look)
  })
  return {
    look,
    end() {
      unsubscribe()
      close('The session has ended.')
    },
  }
}
