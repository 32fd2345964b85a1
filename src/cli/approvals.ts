import { messageOf } from '../protocol/errors.ts'
import { decideCall, type ChatAgent } from './chatAgent.ts'
import type { PendingApproval } from '../runtime/agents/agentTree.ts'
import { withoutControls } from '../charts/plainText.ts'
import type { Screen } from './terminal/screen.ts'

const noTerminal = 'nobody can be asked, as this is not a terminal; run with --yes to allow commands'

/** How waiting calls are decided: by asking, at once, or (`leave`) by another client. */
export type ApprovalPolicy = 'ask' | 'deny' | 'approve' | 'leave'

/** `yes`: the person has allowed everything beforehand. */
export const approvalPolicy = (isLive: boolean, yes: boolean): ApprovalPolicy =>
  yes ? 'approve' : isLive ? 'ask' : 'deny'

export interface Approvals {
  /** Picks up calls that are already waiting, for example after a reconnect or a resume. */
  look(): void
  end(): void
}

const idOf = ({ agentId, callId }: Pick<PendingApproval, 'agentId' | 'callId'>): string => `${agentId}/${callId}`

/** Parses the answer to a question; `undefined` if it is neither yes nor no. Pure. */
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

/** The full input of a call; a command's as one would type it. */
function inputText(input: unknown): string {
  const { command, ...rest } = (typeof input === 'object' && input !== null ? input : {}) as { command?: unknown }
  if (typeof command !== 'string') return JSON.stringify(input) ?? ''
  return Object.keys(rest).length === 0 ? command : `${command} ${JSON.stringify(rest)}`
}

/** A key for an agent, a tool and its input, independent of the order of the input's fields. */
const sameCall = ({ agentId, name, input }: PendingApproval): string =>
  JSON.stringify([agentId, name, input], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/**
 * Answers the agent's approval requests one after the other, including those already waiting when it is resumed. A question that
 * someone else has answered is withdrawn.
 */
export function answerApprovals(agent: ChatAgent, screen: Screen, policy: () => ApprovalPolicy): Approvals {
  let asked: Promise<void> = Promise.resolve()
  /** Calls with an open or queued question. */
  const open = new Map<string, AbortController>()
  const allowed = new Set<string>()
  const isPending = (call: PendingApproval): boolean => agent.approvals().some((other) => idOf(other) === idOf(call))
  const decide = async (call: PendingApproval, decision: 'approve' | 'deny', reason?: string): Promise<void> => {
    // It may have been aborted or decided by someone else first.
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
  /** Deferred: the machine is still in the transition that asks. */
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
