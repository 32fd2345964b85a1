import { messageOf } from '../../../../src/protocol/errors.ts'
import { decideCall, type ChatAgent } from './chatAgent.ts'
import { askPerson, isAskable, type Askable } from './askPerson.ts'
import type { DecideOptions, Decision } from '../../../../src/protocol/bridge/commands.ts'
import type { Pending, PendingOf } from '../../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'
import { oneLine, withoutControls } from '../../../charts/src/plainText.ts'
import { callText } from '../terminal/callText.ts'
import { readRuled, ruledAnswers, ruledNotUnderstood, type RuledAnswer } from './ruleAnswers.ts'
import { noColours, type Colours } from '../terminal/colours.ts'
import type { MenuItem } from '../terminal/menu.ts'
import type { Screen } from '../terminal/screen.ts'

const noTerminal = 'nobody can be asked, as this is not a terminal; run with --yes to allow commands'

/** Policy for waiting calls: ask, decide at once, or leave them to another client. */
export type ApprovalPolicy = 'ask' | 'deny' | 'approve' | 'leave'

/** Returns the policy for a run that nobody else drives. `yes`: the person has approved everything beforehand. */
export const approvalPolicy = (isLive: boolean, yes: boolean): ApprovalPolicy =>
  yes ? 'approve' : isLive ? 'ask' : 'deny'

/** Returns the policy for an agent that others drive too: this command decides without asking only in a run that it began itself. */
export const sharedPolicy = (isOwnRun: boolean, isLive: boolean, yes: boolean): ApprovalPolicy =>
  isOwnRun ? approvalPolicy(isLive, yes) : isLive ? 'ask' : 'leave'

export interface ApprovalOptions {
  /** Colours of the questions. Default: none. */
  readonly colours?: Colours
  readonly policy: () => ApprovalPolicy
  /** Called with each question, or call for a client, if there is no person to ask: `--yes` answers none. Default: they are denied. */
  readonly unasked?: (pending: Askable) => Promise<void> | void
}

export interface Approvals {
  /** Picks up calls that are already waiting, for example after a reconnect or a resume. */
  look(): void
  end(): void
}

/**
 * A person's answer to a waiting call. `forAll`: the approval holds for every call with the same input, or for every call of the tool
 * until the run ends.
 */
export type Said = RuledAnswer & { readonly forAll?: 'call' | 'tool' }

/** Parses the answer to a question; `undefined` if it is neither yes nor no. Pure. */
export function readAnswer(said: string): Said | undefined {
  const answer = said.trim()
  if (/^y(?:es)?$/i.test(answer)) return { decision: 'approve' }
  if (/^a(?:lways)?$/i.test(answer)) return { decision: 'approve', forAll: 'call' }
  if (/^t(?:ool)?$/i.test(answer)) return { decision: 'approve', forAll: 'tool' }
  const [, reason] = /^no?(?:[\s,:;.!]+(.*))?$/is.exec(answer) ?? []
  if (reason !== undefined && reason !== '') return { decision: 'deny', reason }
  return /^no?\W*$/i.test(answer) ? { decision: 'deny' } : undefined
}

const notUnderstood = '  (type y, a, t or n; after n you can add a reason for the agent)'
const notAll = '  (the call was cut off; here it is in full)'
const seesAll = /^(?:v|view|d|diff)$/i

/** Returns the answers to a call, as a menu. */
const answersTo = (name: string, isCut: boolean): readonly MenuItem[] => [
  { typed: 'y', label: 'yes' },
  { typed: 'a', label: 'always: this call with exactly this input' },
  { typed: 't', label: `every ${name} of this agent until the run ends` },
  { typed: 'n', label: 'no' },
  { typed: 'n', label: 'no, with a reason for the agent', isBegun: true },
  ...(isCut ? [{ typed: 'v', label: 'view the full call, required before yes' }] : []),
]

/** Returns a key for an agent, a tool and its input, independent of the order of fields in the input. */
const sameCall = ({ agentId, name, input }: Pending): string =>
  JSON.stringify([agentId, name, input], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/**
 * Asks the person about all waiting calls, one after the other, including calls that already wait when the agent is resumed. A call decided
 * elsewhere is withdrawn.
 */
export function answerPending(
  agent: ChatAgent,
  screen: Screen,
  { policy, unasked, colours = noColours }: ApprovalOptions,
): Approvals {
  let asked: Promise<void> = Promise.resolve()
  /** Calls with an open or queued question. */
  const open = new Map<string, AbortController>()
  const allowed = new Set<string>()
  /** Tools that are allowed until the run ends. */
  const allowedTools = new Set<string>()
  const isPending = (call: Pending): boolean => agent.pending().some(({ key }) => key === call.key)
  const decide = async (call: Pending, decision: Decision, how?: string | DecideOptions): Promise<void> => {
    // It may have been aborted or decided by someone else first.
    if (isPending(call)) await decideCall(agent, call, decision, how)
  }
  const whoseIs = ({ agentId }: Pending): string => (agentId === agent.id ? '' : ` (of ${agentId})`)
  const ask = async (call: PendingOf<'approval'>, signal: AbortSignal): Promise<void> => {
    const same = sameCall(call)
    const tool = JSON.stringify([call.agentId, call.name])
    if (allowed.has(same) || allowedTools.has(tool)) return decide(call, 'approve')
    const { columns } = screen
    const shown = callText(call.name, call.input, { colours, columns })
    let isSeen = shown.rest.length === 0
    const { suggest } = call
    const isCut = shown.rest.length > 0
    const menu = suggest === undefined ? answersTo(oneLine(call.name), isCut) : ruledAnswers(suggest, isCut)
    let text = [`${shown.head}${whoseIs(call)}`, ...shown.rows]
    while (!signal.aborted) {
      if (!screen.isAtLineStart) screen.write('\n')
      screen.write(text.map((line) => `${line}\n`).join(''))
      const said = await screen.ask('  allow it? ', signal, menu)
      if (said === undefined) return signal.aborted ? undefined : decide(call, 'deny')
      const answer: Said | undefined = suggest === undefined ? readAnswer(said) : readRuled(said, suggest)
      const seesRest = shown.rest.length > 0 && seesAll.test(said.trim())
      if (seesRest || (answer?.decision === 'approve' && !isSeen)) {
        isSeen = true
        text = [...(seesRest ? [] : [notAll]), shown.head, ...shown.rest]
        continue
      }
      if (answer?.forAll === 'call') allowed.add(same)
      if (answer?.forAll === 'tool') allowedTools.add(tool)
      if (answer === undefined) {
        text = [suggest === undefined ? notUnderstood : ruledNotUnderstood]
        continue
      }
      const { decision, forAll: _, ...how } = answer
      if (how.grant === undefined) return decide(call, decision, how)
      try {
        return await decide(call, decision, how)
      } catch (thrown) {
        // The rule was refused, and the call still waits.
        text = [`  (${withoutControls(messageOf(thrown))})`]
      }
    }
  }
  const answer = async (call: Pending, signal: AbortSignal): Promise<void> => {
    const how = policy()
    if (signal.aborted || how === 'leave') return
    if (isAskable(call)) {
      if (screen.isInteractive)
        await askPerson(screen, call, { whose: whoseIs(call), colours }, signal, (decision, reason) =>
          decide(call, decision, reason),
        )
      else if (unasked === undefined) await decide(call, 'deny', noTerminal)
      else await unasked(call)
    } else if (how === 'ask') await ask(call, signal)
    else if (how === 'approve') await decide(call, 'approve')
    else await decide(call, 'deny', noTerminal)
  }
  /** Queues a call. Asking is deferred because the machine is still in the transition that asks. */
  const enqueue = (call: Pending): void => {
    if (open.has(call.key)) return
    const controller = new AbortController()
    open.set(call.key, controller)
    asked = asked
      .then(() => answer(call, controller.signal))
      .catch((thrown: unknown) => screen.write(`! ${withoutControls(messageOf(thrown))}\n`))
  }
  const look = (): void => {
    for (const call of agent.pending()) enqueue(call)
  }
  const close = (why: string, fits: (key: string) => boolean = () => true): void => {
    for (const [key, controller] of open) {
      if (!fits(key)) continue
      open.delete(key)
      controller.abort(new Error(why))
    }
  }
  const unsubscribe = agent.subscribe((event) => {
    const pending = pendingIn(event.agentId, event)
    if (pending !== undefined) enqueue(pending)
    else if (event.type === 'approval.decided' || event.type === 'question.answered' || event.type === 'tool.end')
      // Of a call that has ended, its questions too.
      close('The call is no longer waiting.', (key) => key === event.key || key.startsWith(`${event.key}/`))
    else if (event.agentId !== agent.id) return
    else if (event.type === 'run.end') {
      allowedTools.clear()
      close('The run has ended.')
    } else if (event.type === 'run.start' && event.cause === 'resume') asked = asked.then(look)
  })
  return {
    look,
    end() {
      unsubscribe()
      close('The session has ended.')
    },
  }
}
